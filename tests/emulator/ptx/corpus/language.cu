// Ordinary C++ that nvcc cannot inline away: recursion, calls by value and through pointers, jump tables,
// local arrays, 64-bit arithmetic, tables with addresses in them.
struct Polynomial {
  double coefficients[5];
  short degree;
};
struct Entry {
  int key;
  const float* values;
  double weight;
};

__constant__ float factors[4] = {1.0F, -2.0F, 0.5F, 1e-3F};
__device__ int counters[8] = {1, 2, 3};
__device__ int* first_counter = &counters[1];
__device__ Entry entries[2] = {{3, factors + 1, 2.5}, {4, nullptr, -0.0}};

__device__ __noinline__ int twice(int x) {
  return 2 * x;
}
__device__ __noinline__ int thrice(int x) {
  return 3 * x;
}
__device__ int (*functions[2])(int) = {twice, thrice};

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ Polynomial scaled(Polynomial p, double by, int degree) {
  for (int i = 0; i <= degree; ++i) p.coefficients[i] *= by;
  p.degree = static_cast<short>(degree);
  return p;
}

template <class T, int N>
__device__ T sum_of(const T* values, T start) {
  T sum = start;
#pragma unroll 1
  for (int i = 0; i < N; ++i) sum += values[i] / static_cast<T>(i + 1);
  return sum;
}

extern "C" __global__ void __launch_bounds__(256, 2) calls(int* out, Polynomial p, int n) {
  int recent[16];
  for (int i = 0; i < 16; ++i) recent[i] = fibonacci(i + n);
  const Polynomial q = scaled(p, out[0], n);
  out[1] = recent[n & 15] + functions[n & 1](n) + *first_counter + static_cast<int>(q.coefficients[n & 3]);
  entries[n & 1].weight += factors[n & 3];
}

extern "C" __global__ void jumps(int* out, int n) {
  switch (n) {
    case 0:
      out[0] = n;
      break;
    case 1:
      out[1] *= 7;
      break;
    case 2:
      out[2] -= fibonacci(n);
      break;
    case 3:
      out[3] ^= out[4];
      break;
    case 4:
      out[4] /= 3;
      break;
    case 5:
      out[5] %= 11;
      break;
    case 6:
      out[6] <<= n;
      break;
    case 7:
      out[7] = __popc(out[8]);
      break;
    case 8:
      out[8] = __clz(out[9]);
      break;
    case 9:
      out[9] = __brev(out[1]);
      break;
    default:
      __trap();
  }
}

template <class T>
__global__ void series(const T* values, T* out) {
  out[threadIdx.x] = sum_of<T, 9>(values + blockIdx.x, T(3)) * values[threadIdx.x];
}
template __global__ void series<double>(const double*, double*);
template __global__ void series<long long>(const long long*, long long*);
template __global__ void series<unsigned char>(const unsigned char*, unsigned char*);
