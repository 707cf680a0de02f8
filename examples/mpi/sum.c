// Four processes add up their numbers in a ring and by a reduction, which must agree.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, size, sum = 0, ring = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int mine = (rank + 1) * (rank + 1);
	if (rank > 0)
		MPI_Recv(&ring, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	ring += mine;
	if (rank < size - 1)
		MPI_Send(&ring, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
	MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
	if (rank == size - 1) {
		if (sum != ring)
			MPI_Abort(MPI_COMM_WORLD, 1);
		printf("both ways the sum is %d\n", sum);
	}
	MPI_Finalize();
	return 0;
}
