// As waits.c, in C++: methods in a namespace, with parameters of templates.
#include <execinfo.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace app {

std::mutex printing;

template <typename T>
struct Worker {
	const char *name;

	__attribute__((noinline)) long inner(const std::vector<T> &secrets) {
		void *at[64];
		{
			std::lock_guard<std::mutex> lock(printing);
			int n = backtrace(at, 64);
			for (int i = 0; i < n; i++)
				printf("%s %p\n", name, at[i]);
			fflush(stdout);
		}
		struct timespec long_time = {1000, 0};
		nanosleep(&long_time, nullptr);
		return static_cast<long>(secrets[0]) + 1;
	}

	__attribute__((noinline)) long outer(T secret) { return inner({secret, secret * 2}) + 1; }
};

}  // namespace app

int main() {
	app::Worker<int> first{"main"}, second{"second"};
	std::thread t([&] { second.outer(21); });
	long r = first.outer(50) + 1;
	t.join();
	return r == 0;
}
