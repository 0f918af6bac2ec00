// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "distributed/count_messages.hpp"

#include <mpi.h>

namespace FiligreePerf {
namespace {

SentMessages sent;

void count(int elements, MPI_Datatype type) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  sent.bytes += static_cast<double>(elements) * bytes;
  sent.messages += 1;
}

}  // namespace

SentMessages sent_messages() {
  return sent;
}

}  // namespace FiligreePerf

// MPI calls its own functions by the names that begin with PMPI_, so that a program can replace the others.
extern "C" {

int MPI_Send(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  FiligreePerf::count(elements, type);
  return PMPI_Send(data, elements, type, to, tag, comm);
}
int MPI_Ssend(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  FiligreePerf::count(elements, type);
  return PMPI_Ssend(data, elements, type, to, tag, comm);
}
int MPI_Rsend(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  FiligreePerf::count(elements, type);
  return PMPI_Rsend(data, elements, type, to, tag, comm);
}
int MPI_Isend(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  FiligreePerf::count(elements, type);
  return PMPI_Isend(data, elements, type, to, tag, comm, request);
}
int MPI_Irsend(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  FiligreePerf::count(elements, type);
  return PMPI_Irsend(data, elements, type, to, tag, comm, request);
}

}  // extern "C"
