// gemm() as the first CUDA work of a process: captured in a graph before any kernel is loaded, and called by
// eight threads at once on one device and on two. Prepared products likewise, and after a reset.
//
// What is lazy happens once in a process: the list of kernels, the driver's entry points, the loading of each
// kernel on each device. So every test starts this program again, as a child that runs one scenario.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"
#include "tenon/gemm_prepared.hpp"

extern char** environ;

namespace tenon {
namespace {

// The scenario cannot run on this machine; what() says why.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error(why);
}
void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}
void require(const Status& status, const std::string& what) {
  if (!status) fail(what + ": " + status.message());
}

// One of -1, 0 and 1 in a type: sums of up to 192 of their products are exact in all types.
std::vector<unsigned char> encoded(const std::vector<int>& values, Type type) {
  std::vector<unsigned char> result(values.size() * bytes(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<float>(values[i]);
    const auto put = [&](const auto& element) {
      std::memcpy(result.data() + i * sizeof element, &element, sizeof element);
    };
    switch (type) {
      case Type::f16:
        put(__float2half(x));
        break;
      case Type::bf16:
        put(__float2bfloat16(x));
        break;
      case Type::f32:
      case Type::tf32:
        put(x);
        break;
      case Type::e4m3:
        put(static_cast<unsigned char>(values[i] == 0 ? 0 : values[i] > 0 ? 0x38 : 0xB8));
        break;
      case Type::e5m2:
        put(static_cast<unsigned char>(values[i] == 0 ? 0 : values[i] > 0 ? 0x3C : 0xBC));
        break;
      case Type::s8:
        put(static_cast<std::int8_t>(values[i]));
        break;
      case Type::s32:
        put(static_cast<std::int32_t>(values[i]));
        break;
      case Type::f64:
        put(static_cast<double>(values[i]));
        break;
    }
  }
  return result;
}

double decoded(const unsigned char* element, Type type) {
  if (type == Type::s32) {
    std::int32_t x = 0;
    std::memcpy(&x, element, sizeof x);
    return x;
  }
  if (type == Type::f64) {
    double x = 0;
    std::memcpy(&x, element, sizeof x);
    return x;
  }
  if (type == Type::f32) {
    float x = 0;
    std::memcpy(&x, element, sizeof x);
    return static_cast<double>(x);
  }
  if (type == Type::f16) {
    __half x;
    std::memcpy(&x, element, sizeof x);
    return static_cast<double>(__half2float(x));
  }
  fail("C is of a type that this test does not read");
}

// A product with memory of its own on the device that is current where it is made.
class Product {
 public:
  Product(const Gemm& packed, cudaStream_t stream) : problem(packed), stream_(stream) {
    Gemm& p = problem;
    p.a.ld = p.a.order == row_major ? p.k : p.m;
    p.b.ld = p.b.order == row_major ? p.n : p.k;
    p.c.ld = p.n;
    a_ = draw(p.m * p.k, 1);
    b_ = draw(p.k * p.n, 2);
    p.a.data = upload(encoded(a_, p.a.type));
    p.b.data = upload(encoded(b_, p.b.type));
    poison_.assign(static_cast<std::size_t>(p.m * p.n) * bytes(p.c.type), 0xFF);
    p.c.data = upload(poison_);
  }
  ~Product() {
    for (void* const memory : memory_) cudaFree(memory);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void allocate_workspace() {
    problem.workspace_bytes = workspace_size(problem);
    if (problem.workspace_bytes == 0) return;
    problem.workspace = upload(std::vector<unsigned char>(problem.workspace_bytes, 0xFF));
  }

  void forget_result() {
    require(cudaMemcpyAsync(problem.c.data, poison_.data(), poison_.size(), cudaMemcpyDefault, stream_),
            "poisoning C");
    require(cudaStreamSynchronize(stream_), "poisoning C");
  }

  // Checks every 61st element.
  void check(const std::string& what) {
    const Gemm& p = problem;
    std::vector<unsigned char> c(poison_.size());
    require(cudaMemcpyAsync(c.data(), p.c.data, c.size(), cudaMemcpyDefault, stream_), "reading C");
    require(cudaStreamSynchronize(stream_), what.c_str());
    for (std::int64_t i = 0; i < p.m * p.n; i += 61) {
      const std::int64_t row = i / p.n, column = i % p.n;
      int sum = 0;
      for (std::int64_t j = 0; j < p.k; ++j) {
        const std::int64_t in_a = p.a.order == row_major ? row * p.a.ld + j : j * p.a.ld + row;
        const std::int64_t in_b = p.b.order == row_major ? j * p.b.ld + column : column * p.b.ld + j;
        sum += a_[static_cast<std::size_t>(in_a)] * b_[static_cast<std::size_t>(in_b)];
      }
      const double computed = decoded(c.data() + static_cast<std::size_t>(i) * bytes(p.c.type), p.c.type);
      if (computed == sum) continue;
      fail(what + ": C[" + std::to_string(row) + "][" + std::to_string(column) + "] is " +
           std::to_string(computed) + " but must be " + std::to_string(sum));
    }
  }

  Gemm problem;

 private:
  static std::vector<int> draw(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int> values(static_cast<std::size_t>(count));
    for (int& value : values) value = static_cast<int>(random() % 3) - 1;
    return values;
  }

  void* upload(const std::vector<unsigned char>& host) {
    void* memory = nullptr;
    require(cudaMalloc(&memory, host.size()), "allocating");
    memory_.push_back(memory);
    require(cudaMemcpyAsync(memory, host.data(), host.size(), cudaMemcpyDefault, stream_), "uploading");
    require(cudaStreamSynchronize(stream_), "uploading");
    return memory;
  }

  cudaStream_t stream_;
  std::vector<int> a_, b_;
  std::vector<unsigned char> poison_;
  std::vector<void*> memory_;
};

// Not the legacy default stream, and none that waits for it: a capture would forbid both to other threads.
cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  return stream;
}

// Captures what `enqueue` enqueues, launches the graph and waits for it.
void run_captured(cudaStream_t stream, cudaStreamCaptureMode mode, const std::function<void()>& enqueue) {
  require(cudaStreamBeginCapture(stream, mode), "beginning a capture");
  enqueue();
  cudaGraph_t graph = nullptr;
  require(cudaStreamEndCapture(stream, &graph), "ending the capture");
  cudaGraphExec_t executable = nullptr;
  require(cudaGraphInstantiate(&executable, graph, 0), "instantiating the graph");
  require(cudaGraphLaunch(executable, stream), "launching the graph");
  require(cudaStreamSynchronize(stream), "running the graph");
  require(cudaGraphExecDestroy(executable), "destroying the graph");
  require(cudaGraphDestroy(graph), "destroying the graph");
}

Gemm problem_of(const Kernel& kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a.order = kernel.a_order;
  p.b.order = kernel.b_order;
  p.a.type = kernel.type;
  p.b.type = kernel.type_b;
  p.accumulate = kernel.accumulate;
  p.promote = kernel.promotes;
  p.c.type = kernel.copy == Copy::module      ? Type::f16
             : kernel.accumulate == Type::f16 ? Type::f32
             // The fused kernels of integers convert the sums.
             : kernel.fused && kernel.accumulate == Type::s32 ? Type::f32
                                                              : kernel.accumulate;
  p.kernel = kernel.name.c_str();
  return p;
}

// Captures a launch of every kernel of the library in one graph, before any kernel is loaded.
void capture_every_kernel(cudaStreamCaptureMode mode) {
  const cudaStream_t stream = new_stream();
  std::vector<std::unique_ptr<Product>> products;
  for (const Kernel& kernel : kernels()) {
    if (kernel.rounds_f32) continue;  // for Product has no f32
    const Gemm p = problem_of(kernel, 256, 264, 192);
    if (kernel.takes_epilogue != nullptr && !kernel.takes_epilogue(p)) continue;
    auto product = std::make_unique<Product>(p, stream);
    if (kernel.partial_bytes != 0) product->allocate_workspace();
    const Status status = can_implement(product->problem);
    if (status.code() == StatusCode::device_unsupported) continue;
    require(status, kernel.name);
    products.push_back(std::move(product));
  }
  if (products.size() < 10) fail("this device runs " + std::to_string(products.size()) + " kernels only");
  run_captured(stream, mode, [&] {
    for (const auto& product : products)
      require(gemm(product->problem, stream), std::string(product->problem.kernel) + " in a capture");
  });
  for (const auto& product : products) product->check(product->problem.kernel);
}

// The launches beside the product: copies of unaligned operands, the copy of a transposed C, scaling of C.
void capture_copies() {
  const cudaStream_t stream = new_stream();
  std::vector<std::unique_ptr<Product>> products;
  for (const auto& [m, n, k] : {std::tuple{257, 131, 123}, {9, 4001, 187}, {4001, 9, 187}, {64, 64, 64}}) {
    for (const Order a_order : {row_major, column_major}) {
      for (const Order b_order : {row_major, column_major}) {
        Gemm p;
        p.m = m;
        p.n = n;
        p.k = k;
        p.a.order = a_order;
        p.b.order = b_order;
        p.a.type = p.b.type = Type::f16;
        p.c.type = Type::f16;
        products.push_back(std::make_unique<Product>(p, stream));
        products.push_back(std::make_unique<Product>(p, stream));
        products.back()->allocate_workspace();
      }
    }
  }
  Gemm scaling = products.front()->problem;
  void* scaled = nullptr;
  constexpr int size = 64;
  std::vector<float> ones(size * size, 1.0F);
  require(cudaMalloc(&scaled, ones.size() * sizeof(float)), "allocating");
  require(cudaMemcpyAsync(scaled, ones.data(), ones.size() * sizeof(float), cudaMemcpyDefault, stream),
          "uploading");
  scaling.m = scaling.n = scaling.c.ld = size;
  scaling.k = 0;
  scaling.c = {scaled, size, Type::f32};
  scaling.beta = 0.5F;
  run_captured(stream, cudaStreamCaptureModeGlobal, [&] {
    for (const auto& product : products) require(gemm(product->problem, stream), "a captured product");
    require(gemm(scaling, stream), "captured scaling");
  });
  for (const auto& product : products) {
    const Gemm& p = product->problem;
    product->check(std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) +
                   (p.workspace != nullptr ? " from copies" : ""));
  }
  require(cudaMemcpy(ones.data(), scaled, ones.size() * sizeof(float), cudaMemcpyDefault), "reading C");
  for (const float x : ones) {
    if (x != 0.5F) fail("an element scaled by 0.5 is " + std::to_string(x));
  }
  require(cudaFree(scaled), "freeing");
}

// The products of a thread: aligned, with copies, element by element, and of other types.
std::vector<Gemm> problems_of_a_thread() {
  std::vector<Gemm> result;
  const auto add = [&](Type type, std::int64_t m, std::int64_t n, std::int64_t k) {
    Gemm p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a.type = p.b.type = type;
    p.b.order = column_major;
    p.accumulate = type == Type::s8 ? Type::s32 : Type::f32;
    p.c.type = p.accumulate;
    result.push_back(p);
  };
  add(Type::f16, 512, 256, 192);
  add(Type::f16, 255, 129, 187);
  add(Type::bf16, 64, 1024, 128);
  add(Type::bf16, 1, 2048, 192);
  int major = 0;
  require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "querying the device");
  if (major != 9) return result;  // the rest has kernels of sm_90a alone
  add(Type::s8, 256, 256, 192);
  add(Type::tf32, 192, 320, 96);
  add(Type::e4m3, 128, 512, 192);
  return result;
}

// Multiplies on a device, over and over: every second time from a graph.
void multiply(int device, int rounds, int first) {
  require(cudaSetDevice(device), "choosing a device");
  const cudaStream_t stream = new_stream();
  const std::vector<Gemm> problems = problems_of_a_thread();
  std::vector<std::unique_ptr<Product>> products;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    // Each thread begins with another one.
    products.push_back(
        std::make_unique<Product>(problems[(i + static_cast<std::size_t>(first)) % problems.size()], stream));
    if (i % 2 == 0) products.back()->allocate_workspace();
  }
  for (int round = 0; round < rounds; ++round) {
    for (const auto& product : products) {
      product->forget_result();
      const auto enqueue = [&] { require(gemm(product->problem, stream), "a product of a thread"); };
      if ((round + first) % 2 == 0) {
        enqueue();
      } else {
        run_captured(stream, cudaStreamCaptureModeThreadLocal, enqueue);
      }
      product->check("device " + std::to_string(device) + ", " + name(product->problem.a.type));
    }
  }
  require(cudaStreamDestroy(stream), "destroying a stream");
}

// `count` threads, which all begin at once; thread i on device i % devices.
void in_threads(int count, int devices) {
  std::atomic<int> waiting{count};
  std::vector<std::string> failures(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        multiply(i % devices, 6, i);
      } catch (const std::exception& failure) {
        failures[static_cast<std::size_t>(i)] = failure.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < count; ++i) {
    if (!failures[static_cast<std::size_t>(i)].empty())
      fail("thread " + std::to_string(i) + ": " + failures[static_cast<std::size_t>(i)]);
  }
}

void require_devices(int needed) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  if (count < needed)
    throw Skipped("needs " + std::to_string(needed) + (needed == 1 ? " GPU" : " GPUs") + " but there are " +
                  std::to_string(count));
}

// Anything cached for one device must not be used on another: one thread alternates between both.
void two_devices_alternately() {
  for (int turn = 0; turn < 4; ++turn) multiply(turn % 2, 2, turn);
}

// f16, 512 cubed, without memory.
Gemm small_problem() {
  Gemm p;
  p.m = p.n = p.k = 512;
  p.a.type = p.b.type = p.c.type = Type::f16;
  p.b.order = column_major;
  p.a.ld = p.b.ld = p.c.ld = 512;
  return p;
}

GemmPointers pointers_of(const Product& product) {
  GemmPointers pointers;
  pointers.a = product.problem.a.data, pointers.b = product.problem.b.data;
  pointers.c = product.problem.c.data, pointers.workspace = product.problem.workspace;
  return pointers;
}

// A run of what was prepared for another device, or before a reset.
void require_refusal(const PreparedGemm& prepared, const GemmPointers& pointers, const char* words) {
  const Status s = prepared.run(pointers);
  if (s.code() != StatusCode::invalid_argument || std::strstr(s.message(), words) == nullptr)
    fail(std::string("the sentence must hold '") + words + "' but is: " + s.message());
}

// Prepared products: captured before anything else was launched, run by threads at once, and with the
// pointers of other products of the same shape.
void prepared_products() {
  const cudaStream_t stream = new_stream();
  for (const Gemm& problem : problems_of_a_thread()) {
    Product first(problem, stream), second(problem, stream);
    first.allocate_workspace();
    second.allocate_workspace();
    PreparedGemm prepared;
    require(prepare(first.problem, &prepared), "preparing");
    const GemmPointers elsewhere = pointers_of(second);
    run_captured(stream, cudaStreamCaptureModeGlobal, [&] {
      require(prepared.run({}, stream), "a captured run");
      require(prepared.run(elsewhere, stream), "a captured run with other pointers");
    });
    first.check("a prepared product");
    second.check("a prepared product with other pointers");
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    first.forget_result();
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round)
          if (!prepared.run({}, stream)) ++failures;
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (failures != 0) fail(std::to_string(failures) + " runs of threads failed");
    first.check("a prepared product of four threads");
  }
}

// What was prepared for a device that was reset is refused, and can be prepared again.
void prepared_before_a_reset() {
  const Gemm p = small_problem();
  PreparedGemm prepared;
  require(prepare(p, &prepared), "preparing");
  require(cudaDeviceReset(), "resetting");
  {
    const Product product(p, nullptr);
    const GemmPointers pointers = pointers_of(product);
    require_refusal(prepared, pointers, "was reset");
    require(cudaDeviceSynchronize(), "after the refused run");
    require(prepare(p, &prepared), "preparing again");
    require(prepared.run(pointers), "running again");
  }
  require(cudaDeviceSynchronize(), "the run after the reset");
}

void prepared_for_another_device() {
  require_devices(2);
  const Gemm p = small_problem();
  PreparedGemm prepared;
  require(prepare(p, &prepared), "preparing");
  require(cudaSetDevice(1), "choosing the other device");
  const Product product(p, nullptr);
  require_refusal(prepared, pointers_of(product), "current device is 1");
}

const std::map<std::string, std::function<void()>>& scenarios() {
  static const std::map<std::string, std::function<void()>> all = {
      {"capture_global", [] { capture_every_kernel(cudaStreamCaptureModeGlobal); }},
      {"capture_thread_local", [] { capture_every_kernel(cudaStreamCaptureModeThreadLocal); }},
      {"capture_relaxed", [] { capture_every_kernel(cudaStreamCaptureModeRelaxed); }},
      {"capture_copies", capture_copies},
      {"threads_on_one_device", [] { in_threads(8, 1); }},
      {"threads_on_two_devices",
       [] {
         require_devices(2);
         in_threads(8, 2);
       }},
      {"prepared_products", prepared_products},
      {"prepared_before_a_reset", prepared_before_a_reset},
      {"prepared_for_another_device", prepared_for_another_device},
      {"two_devices_alternately",
       [] {
         require_devices(2);
         two_devices_alternately();
       }},
  };
  return all;
}

constexpr int skipped = 77;

// The child: runs one scenario and says on standard output what went wrong, or why it did not run.
int run_alone(const std::string& scenario) {
  const auto found = scenarios().find(scenario);
  if (found == scenarios().end()) {
    std::printf("there is no scenario '%s'", scenario.c_str());
    return 2;
  }
  try {
    require_devices(1);
    found->second();
  } catch (const Skipped& why) {
    std::printf("%s", why.what());
    return skipped;
  } catch (const std::exception& failure) {
    std::printf("%s", failure.what());
    return 1;
  }
  return 0;
}

struct Ended {
  int status;  // -1: by a signal
  std::string said;
};

// Runs this program again with --alone=<scenario>.
Ended start_again(const std::string& scenario) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return {-1, "no pipe"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::string program = "/proc/self/exe", argument = "--alone=" + scenario;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string said;
  char part[256];
  for (ssize_t got = 0; error == 0 && (got = read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  if (error != 0 || waitpid(child, &status, 0) != child)
    return {-1, "the program could not be started again"};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, said};
}

class FirstUse : public testing::TestWithParam<const char*> {};

TEST_P(FirstUse, InAProcessOfItsOwn) {
  const Ended ended = start_again(GetParam());
  if (ended.status == skipped) GTEST_SKIP() << ended.said;
  EXPECT_EQ(ended.status, 0) << GetParam() << ": " << ended.said;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FirstUse,
                         testing::Values("capture_global", "capture_thread_local", "capture_relaxed",
                                         "capture_copies", "threads_on_one_device", "threads_on_two_devices",
                                         "two_devices_alternately", "prepared_products",
                                         "prepared_before_a_reset", "prepared_for_another_device"),
                         [](const auto& scenario) { return std::string(scenario.param); });

// On every machine: the parent hears what its child says.
TEST(FirstUseProcess, OfNoScenarioFails) {
  const Ended ended = start_again("none");
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.said, "there is no scenario 'none'");
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  const std::string option = "--alone=";
  if (argc == 2 && std::strncmp(argv[1], option.c_str(), option.size()) == 0)
    return tenon::run_alone(argv[1] + option.size());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
