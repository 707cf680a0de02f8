// Floating point: formats, rounding, special values, state kept over calls.
#include "guest.h"
#include <fenv.h>
#include <math.h>

int main(void)
{
	volatile double zero = 0, one = 1, three = 3;
	printf("%f %e %g %.17g %a\n", 1 / three, 1e300 * 10, 0.1, 0.1, 0.1);
	printf("%f %f %f\n", one / zero, -one / zero, zero / zero);
	printf("%.3f %.0f %.0f\n", strtod("1e-3", NULL), 0.5, 1.5);
	printf("%Lf\n", (long double)one / 3);
	fesetround(FE_UPWARD);
	nap(1);
	printf("%.20f\n", one / three);
	fesetround(FE_DOWNWARD);
	getppid();
	printf("%.20f\n", one / three);
	fesetround(FE_TONEAREST);
	feclearexcept(FE_ALL_EXCEPT);
	volatile double x = one / zero;
	(void)x;
	sched_yield();
	SURE(fetestexcept(FE_DIVBYZERO));
	double sum = 0;
	for (int i = 1; i <= 1000; i++)
		sum += 1.0 / i;
	printf("%.15f\n", sum);
	printf("%d %d\n", (int)lrint(2.5), (int)lrint(3.5));
}
