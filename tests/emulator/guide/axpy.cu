// y = a * x + y, with all that it needs in one parameter.
struct Axpy {
  int n;
  float a;
  const float* x;
  float* y;
};
extern "C" __global__ void axpy(Axpy p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.y[i] = p.a * p.x[i] + p.y[i];
}
