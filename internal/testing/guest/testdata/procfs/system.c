// Files of /proc and /sys that programs read at their start.
#include "proc.h"

static void has(const char *path, const char *word)
{
	printf("%s has %s: %s\n", path, word, strstr(slurp(path), word) ? "yes" : "no");
}

static void number(const char *path)
{
	char *end, *s = slurp(path);
	strtod(s, &end);
	printf("%s is a number: %s\n", path, end > s ? "yes" : "no");
}

int main(void)
{
	has("/proc/meminfo", "MemTotal:");
	has("/proc/meminfo", "MemAvailable:");
	has("/proc/cpuinfo", "processor");
	has("/proc/stat", "cpu ");
	has("/proc/stat", "btime ");
	has("/proc/mounts", " / ");
	has("/proc/self/mountinfo", " / ");
	has("/proc/filesystems", "tmpfs");
	has("/proc/version", "Linux version");
	number("/proc/uptime");
	number("/proc/loadavg");
	number("/proc/sys/kernel/pid_max");
	number("/proc/sys/kernel/tainted");
	number("/proc/sys/net/core/somaxconn");
	number("/proc/sys/kernel/random/entropy_avail");
	number("/proc/sys/vm/overcommit_memory");
	number("/proc/sys/fs/file-max");
	has("/proc/sys/kernel/ostype", "Linux");
	SURE(strlen(slurp("/proc/sys/kernel/random/uuid")) == 37);
	SURE(strlen(slurp("/proc/sys/kernel/random/boot_id")) == 37);
	has("/proc/self/limits", "Max open files");
	has("/sys/devices/system/cpu/online", "0");
	has("/proc/net/dev", "lo:");
	has("/etc/hosts", "127.0.0.1");
	char host[256];
	gethostname(host, sizeof host);
	SURE(!strncmp(slurp("/proc/sys/kernel/hostname"), host, strlen(host)));
}
