#include "textflag.h"

// The beginning of the program that make build links (-E main.start). Go's runtime takes
// its memory before any Go code runs, and ends in a trace of its own where a limit does not let it. So
// the limits are looked at before it begins. The stack is as Linux has left it; registers but DX, in which the
// loader may have left something, mean nothing.
TEXT ·start(SB), NOSPLIT|NOFRAME, $0
	MOVQ DX, R15

	MOVL $97, AX // getrlimit
	MOVL $9, DI  // RLIMIT_AS
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE data
	MOVQ -64(SP), CX
	MOVQ ·fewestSpace(SB), DX
	CMPQ CX, DX
	JCC data
	MOVQ ·littleSpace+0(SB), SI
	MOVQ ·littleSpace+8(SB), DX
	JMP refuse

data:
	MOVL $97, AX
	MOVL $2, DI // RLIMIT_DATA
	LEAQ -64(SP), SI
	SYSCALL
	TESTQ AX, AX
	JNE begin
	MOVQ -64(SP), CX
	MOVQ ·fewestData(SB), DX
	CMPQ CX, DX
	JCC begin
	MOVQ ·littleData+0(SB), SI
	MOVQ ·littleData+8(SB), DX

refuse:
	MOVL $1, AX // write
	MOVL $2, DI
	SYSCALL
	MOVL $231, AX // exit_group
	MOVL $2, DI   // statusUsage
	SYSCALL

begin:
	MOVQ R15, DX
	JMP _rt0_amd64_linux(SB)
