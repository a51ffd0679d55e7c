// printf and assert of CUDA C++, as nvcc compiles them.
#include <cassert>
#include <cstdio>

// Every conversion, flags, widths and precisions in the format and as arguments. count: what printf returns.
extern "C" __global__ void print_conversions(int* count) {
  const char* text = "text";
  const int returned =
      printf("%d|%5i|%-5d|%+d|%05d|%u|%o|%x|%#X|%lld|%lu|%hd|%hhu|%c|%s|%8.3s|%f|%.2e|%G|%*.*f|%p|%%|%q\n",
             -7, 42, 42, 42, 42, 4000000000U, 8, 255, 255, -5000000000LL, 5000000000UL, 70000, 300, 'c', text,
             text, 1.5, 12345.678f, 1e-10, 9, 2, 3.14159, (void*)0x1234abcd);
  *count = returned;
}

// Three threads of two warps print.
extern "C" __global__ void print_threads() {
  if (threadIdx.x % 31 == 0) printf("block %u thread %u\n", blockIdx.x, threadIdx.x);
}

// 64 bytes a thread.
extern "C" __global__ void print_much() {
  printf("%063u\n", blockIdx.x * blockDim.x + threadIdx.x);
}

extern "C" __global__ void assert_below(int limit) {
  assert(int(threadIdx.x) < limit && "thread beyond the limit");
}
