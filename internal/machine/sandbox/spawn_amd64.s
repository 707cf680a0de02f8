#include "textflag.h"

// func spawn(flags uintptr, calls *call, n uintptr) (pid uintptr)
//
// The child shares the parent's memory and even its stack pointer, so it touches
// registers and the calls alone: BX the current call, R12 how many are left,
// R13 the last kept result. The parent is suspended meanwhile (CLONE_VFORK).
TEXT ·spawn(SB), NOSPLIT, $0-32
	MOVQ flags+0(FP), DI
	MOVQ calls+8(FP), BX
	MOVQ n+16(FP), R12
	XORL SI, SI
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JEQ child
	MOVQ AX, pid+24(FP)
	RET

child:
	XORL R13, R13

next:
	TESTQ R12, R12
	JEQ fail
	MOVQ 0(BX), AX
	MOVQ 8(BX), DI
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	MOVQ 32(BX), R10
	MOVQ 40(BX), R8
	MOVQ 48(BX), R9
	MOVQ 64(BX), R14
	BTQ $0, R14 // onKept
	JCC run
	MOVQ R13, DI

run:
	SYSCALL
	MOVQ AX, 56(BX)
	MOVQ 64(BX), R14
	BTQ $2, R14 // mayFail
	JCS done
	CMPQ AX, $-4095
	JCC fail
	BTQ $3, R14 // whole
	JCC done
	CMPQ AX, 24(BX)
	JNE fail

done:
	BTQ $1, R14 // keep
	JCC advance
	MOVQ AX, R13

advance:
	ADDQ $72, BX
	DECQ R12
	JMP next

fail:
	MOVL $231, AX // exit_group
	MOVL $127, DI
	SYSCALL
	INT $3
