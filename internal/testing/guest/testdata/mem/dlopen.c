// Loading libraries at run time.
#include "guest.h"
#include <dlfcn.h>

int main(void)
{
	void *m = dlopen("libm.so.6", RTLD_NOW);
	SURE(m != NULL);
	double (*root)(double) = (double (*)(double))dlsym(m, "sqrt");
	printf("%.6f\n", root(2.0));
	SURE(dlsym(m, "no_such_function") == NULL && dlerror() != NULL);
	SHOW(dlclose(m));
	SURE(dlopen("libnone.so", RTLD_NOW) == NULL && dlerror() != NULL);
	SURE(dlsym(RTLD_DEFAULT, "printf") != NULL);
	Dl_info i;
	SURE(dladdr(printf, &i) && strstr(i.dli_fname, "libc.so"));
	if (fork() == 0) {
		m = dlopen("libm.so.6", RTLD_LAZY);
		_exit(m == NULL);
	}
	show_wait("child", -1);
}
