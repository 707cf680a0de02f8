// The time stamp counter runs forward.
#include "guest.h"
#include <x86intrin.h>

int main(void)
{
	unsigned long long first = __rdtsc(), last = first;
	unsigned aux;
	int back = 0;
	for (int i = 0; i < 200; i++) {
		unsigned long long now = i % 2 ? __rdtsc() : __rdtscp(&aux);
		back += now < last;
		last = now;
	}
	SHOW(back);
	nap(10);
	SURE(__rdtsc() > last);
}
