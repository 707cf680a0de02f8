#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <sys/mman.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
static char *p; static int fd; static char*m; static volatile int hits; static size_t n=16*4096;
#include <setjmp.h>
static sigjmp_buf jb; static void h(int s){hits++; if(hits) siglongjmp(jb,1);}
static void h2(int s){hits+=100;}
#include <pthread.h>
#include <sys/resource.h>
static pthread_mutex_t mu=PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t cv=PTHREAD_COND_INITIALIZER; static int go;
static void*bt(void*x){ for(;;){pthread_mutex_lock(&mu); while(!go)pthread_cond_wait(&cv,&mu); go=0; pthread_mutex_unlock(&mu); write(1,"B\n",2);} }
int main(int c,char**v){ setvbuf(stdout,0,_IONBF,0); char**av=v;
 if(!strcmp(v[1],"slice")){ pthread_t t; pthread_create(&t,0,bt,0);}
 if(!strcmp(v[1],"exec2")) v[1]="x";

 const char*a=v[1]; 
 p=mmap(0,n,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0); memset(p,1,n);
 if(!strcmp(a,"toggle")) mprotect(p,n,PROT_READ);
 if(!strcmp(a,"none")) { mprotect(p,n,PROT_NONE); }
 if(!strcmp(a,"trunc")) { fd=open("f",O_RDWR|O_CREAT,0600); ftruncate(fd,8192); m=mmap(0,8192,3,MAP_PRIVATE,fd,0); m[4096]=7; m[0]=7; }
 if(!strcmp(a,"resethand")) {}
 sbrk(4096); char*b=sbrk(0);
 for(int i=0;i<24;i++){
  struct timespec t={0,1000000}; nanosleep(&t,0);
  int x=0;
  if(i<8||i%2||!strncmp(a,"privfile",8)||!strcmp(a,"roremap")) strcmp(a,"roremap")&&strcmp(a,"none")&&strcmp(a,"toggle")?p[4096]++:0;
  else if(!strcmp(a,"toggle")){ mprotect(p,n,3); p[0]++; x=p[0]; mprotect(p,n,1);}
  else if(!strcmp(a,"none")){ mprotect(p,n,3); p[0]++; x=p[0]; mprotect(p,n,0);}
  else if(!strcmp(a,"remap")){ mprotect(p,n,1); mmap(p,n,PROT_READ,MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED,-1,0); x=p[0]; mprotect(p,n,3);}
  else if(!strcmp(a,"trunc")){ x=m[4096]; ftruncate(fd,4096); ftruncate(fd,8192); x+=m[4096]; m[4096]=7;}
  else if(!strcmp(a,"trunc2")){ if(i==8){fd=open("f",O_RDWR|O_CREAT,0600); ftruncate(fd,8192); m=mmap(0,8192,3,MAP_PRIVATE,fd,0); m[4096]=7;m[0]=7;} else {x=m[4096]; ftruncate(fd,4096); ftruncate(fd,8192);} }
  else if(!strcmp(a,"guard")){ if(i%4==0) x=madvise(p+8192,4096,102); else x=madvise(p+8192,4096,103); }
  else if(!strcmp(a,"brk")){ long cur=syscall(SYS_brk,0); x=cur&4095; syscall(SYS_brk,cur+16); }
  else if(!strcmp(a,"resethand")){ if(i==8) {struct sigaction s={0}; s.sa_handler=h; s.sa_flags=SA_RESETHAND; sigaction(SIGUSR1,&s,0);} else if(i==20) {if(!sigsetjmp(jb,1)) raise(SIGUSR1);} x=hits; }
  else if(!strcmp(a,"shrink")){ mremap(p,n,n-4*4096,0); mremap(p,n-4*4096,n,0); x=p[n-1]; p[n-1]=9; }
  else if(!strcmp(a,"dontunmap")){ char*r=mremap(p,n,n,MREMAP_MAYMOVE|4); munmap(r,n); x=p[n-1]; }
  else if(!strcmp(a,"union")){ if(i==12){ char*l=mmap(p-4*4096,4*4096,3,MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED_NOREPLACE,-1,0); char*r=mremap(l,n+4*4096,n+8*4096,MREMAP_MAYMOVE); x=r==MAP_FAILED; if(!x)p=r+4*4096;} }
  if(!strcmp(a,"privfile")){ if(i==0){fd=open("f",O_RDWR|O_CREAT,0600); char z[8192]; memset(z,'A',8192); pwrite(fd,z,8192,0); m=mmap(0,8192,3,MAP_PRIVATE,fd,0); x=m[0];} else if(i>=8&&i%2==0){ char q='B'; x=m[0]; pwrite(fd,&q,1,0); m[1]=5; x=x*1000+m[0]; } }
  if(!strcmp(a,"privfile2")){ if(i==0){fd=open("f",O_RDWR|O_CREAT,0600); char z[8192]; memset(z,'A',8192); pwrite(fd,z,8192,0); m=mmap(0,8192,3,MAP_PRIVATE,fd,0); x=m[0];} else if(i>=8&&i%2==0){ if(i==10)m[1]=5; else { char q='B'+i; pwrite(fd,&q,1,0);} x=m[0]; } }
  if(!strcmp(a,"roremap")){ if(i==0) mprotect(p,n,1); else if(i==10){ x=p[0]; mmap(p,n,PROT_READ,MAP_PRIVATE|MAP_ANONYMOUS|MAP_FIXED,-1,0); x=x*10+p[0];} }
  if(!strcmp(a,"vfork")&&i==10){ if(vfork()==0){ struct timespec t={0,3000000}; for(int k=0;k<4;k++) syscall(SYS_nanosleep,&t,0); _exit(0);} }
  if(!strcmp(a,"slice")&&i==12){ pthread_mutex_lock(&mu); go=1; pthread_cond_signal(&cv); pthread_mutex_unlock(&mu); for(int k=0;k<6000;k++) madvise(p+8192,4096,4); }
  if(!strcmp(a,"exec")&&i==12) execl("/proc/self/exe","p","exec2",0);
  if(!strcmp(a,"fds")&&i==7){ struct rlimit l={3,3}; setrlimit(RLIMIT_NOFILE,&l);}
  if(!strcmp(a,"standin")){ if(i==8){ dup2(0,100);int e=eventfd(0,0);dup2(e,50);close(e);} if(i==9){struct rlimit l={10,10}; setrlimit(RLIMIT_NOFILE,&l);} if(i>12){ if(i%2)close(50);} }
  printf("%d %d\n",i,x); fflush(stdout);
 }
 return 0;}
