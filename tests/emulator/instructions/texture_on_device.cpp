// L4: instructions on textures and surfaces on this machine's GPU and on the emulator, bit for bit. What no
// document says, and the emulator assumes, has tests of its own, which print what the GPU gives:
// RoundsFormattedStores, EdgesOfCubeMaps, LevelsOfMipmaps, BiasWithoutALevel.
#include <cuda_runtime.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>

#include "emulator/instructions/texture_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

void check(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
}

bool has_gpu() {
  int count = 0, major = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major >= 8;
}

// An image without its address, packed: the bytes from its first texel to behind its last level.
std::size_t bytes_of(const Image& image) {
  const Image last = level_of(image, std::max(image.levels, 1U) - 1);
  return static_cast<std::size_t>(level_of(last, 1).address);
}

// The image as an array, or a mipmap of arrays, of CUDA. The addresses of `image` are offsets in `bytes`.
class DeviceImage {
 public:
  DeviceImage(const Image& image, const Bytes& bytes) : image_(image) {
    const std::uint32_t faces = image.is_cube ? 6 : 1;
    planes_ = image.is_cube || image.layers != 0 ? faces * std::max(image.layers, 1U) : 0;
    const TexelFormat& format = image.format;
    const auto bits = [&](int channel) { return channel < format.channels ? format.bits : 0; };
    const cudaChannelFormatDesc channels{bits(0), bits(1), bits(2), bits(3),
                                         static_cast<cudaChannelFormatKind>(format.kind)};
    const cudaExtent extent{image.width, image.height, planes_ != 0 ? planes_ : image.depth};
    const unsigned flags = (image.layers != 0 ? cudaArrayLayered : 0U) |
                           (image.is_cube ? cudaArrayCubemap : 0U) |
                           (image.levels == 0 ? cudaArraySurfaceLoadStore : 0U);
    resource_.resType = image.levels == 0 ? cudaResourceTypeArray : cudaResourceTypeMipmappedArray;
    if (image.levels == 0) {
      check(cudaMalloc3DArray(&resource_.res.array.array, &channels, extent, flags), "allocating an array");
    } else {
      check(cudaMallocMipmappedArray(&resource_.res.mipmap.mipmap, &channels, extent, image.levels, flags),
            "allocating a mipmap");
    }
    for (std::uint32_t i = 0; i < std::max(image.levels, 1U); ++i) {
      Bytes copy = bytes;
      transfer(level_of(image, i), array(i), copy, cudaMemcpyHostToDevice);
    }
  }
  ~DeviceImage() {
    if (image_.levels == 0)
      cudaFreeArray(resource_.res.array.array);
    else
      cudaFreeMipmappedArray(resource_.res.mipmap.mipmap);
  }
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;

  const cudaResourceDesc& resource() const { return resource_; }
  // Without levels.
  Bytes bytes() const {
    Bytes found(bytes_of(image_));
    transfer(image_, array(0), found, cudaMemcpyDeviceToHost);
    return found;
  }

 private:
  cudaArray_t array(std::uint32_t level) const {
    if (image_.levels == 0) return resource_.res.array.array;
    cudaArray_t array = nullptr;
    check(cudaGetMipmappedArrayLevel(&array, resource_.res.mipmap.mipmap, level), "taking a level");
    return array;
  }
  void transfer(const Image& level, cudaArray_t array, Bytes& bytes, cudaMemcpyKind kind) const {
    const std::size_t row =
        level.width * static_cast<std::size_t>(level.format.bits / 8 * level.format.channels);
    const std::size_t rows = std::max(level.height, 1U);
    const cudaPitchedPtr host = make_cudaPitchedPtr(bytes.data() + level.address, row, level.width, rows);
    cudaMemcpy3DParms copy{};
    copy.kind = kind;
    copy.extent = {level.width, rows, std::max({planes_, level.depth, 1U})};
    if (kind == cudaMemcpyHostToDevice) {
      copy.srcPtr = host;
      copy.dstArray = array;
    } else {
      copy.srcArray = array;
      copy.dstPtr = host;
    }
    check(cudaMemcpy3D(&copy), "copying an image");
  }

  Image image_;
  std::uint32_t planes_ = 0;
  cudaResourceDesc resource_{};
};

std::vector<Words> run_on_gpu(const std::string& instruction, std::uint64_t object,
                              const std::vector<Coordinates>& coordinates, std::vector<Words> data) {
  const std::string text = texture_text(instruction);
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading");
  check(cudaLibraryGetKernel(&kernel, library, "k"), "finding the kernel");
  const std::size_t bytes = 16 * coordinates.size();
  void *in = nullptr, *memory = nullptr;
  check(cudaMalloc(&in, bytes), "allocating");
  check(cudaMalloc(&memory, bytes), "allocating");
  check(cudaMemcpy(in, coordinates.data(), bytes, cudaMemcpyHostToDevice), "copying in");
  check(cudaMemcpy(memory, data.data(), bytes, cudaMemcpyHostToDevice), "copying in");
  void* arguments[] = {&object, &in, &memory};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1),
                         dim3(static_cast<unsigned>(coordinates.size())), arguments, 0, nullptr),
        "launching");
  check(cudaDeviceSynchronize(), "executing");
  check(cudaMemcpy(data.data(), memory, bytes, cudaMemcpyDeviceToHost), "copying out");
  cudaFree(memory);
  cudaFree(in);
  cudaLibraryUnload(library);
  return data;
}

struct Answers {
  std::vector<Words> emulated, found;
};

// Fetches of a texture by both machines. `texels` are packed, levels at their offsets.
Answers fetched(const std::string& instruction, Image image, const Bytes& texels, const Sampling& sampling,
                const std::vector<Coordinates>& coordinates, std::vector<Words> data = {}) {
  data.resize(coordinates.size());
  const DeviceImage array(image, texels);
  cudaTextureDesc description{};
  for (int i = 0; i < 3; ++i)
    description.addressMode[i] = static_cast<cudaTextureAddressMode>(sampling.address[i]);
  description.filterMode = static_cast<cudaTextureFilterMode>(sampling.filter);
  description.readMode = sampling.normalized_read ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  description.normalizedCoords = sampling.normalized_coordinates ? 1 : 0;
  description.mipmapFilterMode = static_cast<cudaTextureFilterMode>(sampling.mipmap_filter);
  description.mipmapLevelBias = sampling.level_bias;
  description.minMipmapLevelClamp = sampling.least_level;
  description.maxMipmapLevelClamp = sampling.most_level;
  cudaTextureObject_t texture = 0;
  check(cudaCreateTextureObject(&texture, &array.resource(), &description, nullptr), "making a texture");
  Answers answers;
  answers.found = run_on_gpu(instruction, texture, coordinates, data);
  check(cudaDestroyTextureObject(texture), "destroying a texture");

  TextureMachine machine;
  image.address = machine.upload(texels);
  answers.emulated =
      machine.run(instruction, machine.emulator.create_texture(image, sampling), coordinates, data);
  machine.expect_clean();
  return answers;
}

// The words that both give, of `of` a thread.
void expect_same(const Answers& answers, const std::string& what, std::size_t of = 4) {
  for (std::size_t thread = 0; thread < answers.found.size(); ++thread)
    for (std::size_t i = 0; i < of; ++i)
      EXPECT_EQ(answers.emulated[thread][i], answers.found[thread][i])
          << what << ", thread " << thread << ", word " << i;
}

float real(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

void print(const char* what, const Answers& answers) {
  std::cout << what << ": the GPU gives";
  for (const Words& words : answers.found) std::cout << ' ' << real(words[0]);
  std::cout << ", the emulator";
  for (const Words& words : answers.emulated) std::cout << ' ' << real(words[0]);
  std::cout << '\n';
}

// 1000 level + 100 plane + 10 y + x in every texel.
Bytes numbered(const Image& image) {
  Bytes bytes(bytes_of(image));
  for (std::uint32_t i = 0; i < std::max(image.levels, 1U); ++i) {
    const Image level = level_of(image, i);
    const std::uint32_t planes = std::max({level.depth, level.layers, 1U}) * (level.is_cube ? 6 : 1);
    std::size_t at = level.address;
    for (std::uint32_t plane = 0; plane < planes; ++plane)
      for (std::uint32_t y = 0; y < std::max(level.height, 1U); ++y)
        for (std::uint32_t x = 0; x < level.width; ++x, at += 4) {
          const auto value = static_cast<float>(1000 * i + 100 * plane + 10 * y + x);
          std::memcpy(&bytes[at], &value, 4);
        }
  }
  return bytes;
}

Image image_of(std::uint32_t width, std::uint32_t height, std::uint32_t levels = 0, bool is_cube = false) {
  Image image{0, one_real, width, height};
  image.levels = levels;
  image.is_cube = is_cube;
  return image;
}

constexpr char tex_level[] = "tex.level.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], %r3;";
constexpr char tex_grad[] =
    "tex.grad.2d.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2}], {%r4, %r5}, {%r6, %r7};";
constexpr char tex_cube[] = "tex.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];";

#define SKIP_WITHOUT_GPU \
  if (!has_gpu()) GTEST_SKIP() << "there is no GPU of compute capability 8.0 or newer"

TEST(TextureOnDevice, MipmapsOfWholeLevels) {
  SKIP_WITHOUT_GPU;
  const Image image = image_of(16, 8, 5);
  for (const TextureFilter between : {TextureFilter::point, TextureFilter::linear})
    for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear}) {
      Sampling sampling = sampled(TextureAddressMode::clamp, true, filter);
      sampling.mipmap_filter = between;
      sampling.level_bias = 1;
      sampling.least_level = 1;
      sampling.most_level = 3;
      std::vector<Coordinates> coordinates;
      for (const float level : {-2.0F, 0.0F, 1.0F, 2.0F, 3.0F, 9.0F})
        for (const float y : {0.0F, 0.4375F, 0.9375F})
          for (const float x : {0.0F, 0.3125F, 0.53125F, 0.9375F}) coordinates.push_back(at(x, y, level));
      expect_same(fetched(tex_level, image, numbered(image), sampling, coordinates), "levels");
    }
}

// Gradients of powers of two along one axis, which select whole levels.
TEST(TextureOnDevice, MipmapsByGradients) {
  SKIP_WITHOUT_GPU;
  const Image image = image_of(16, 8, 5);
  const Sampling sampling = sampled(TextureAddressMode::clamp, true);
  std::vector<Words> gradients;
  for (float length = 1.0F / 32; length < 4; length *= 2) {
    gradients.push_back({bits_of(length), 0, 0, 0});
    gradients.push_back({0, bits_of(-length), 0, 0});
    gradients.push_back({bits_of(length / 4), 0, 0, bits_of(length)});
  }
  gradients.push_back({});
  const std::vector<Coordinates> coordinates(gradients.size(), at(0.53125F, 0.53125F));
  const Answers answers = fetched(tex_grad, image, numbered(image), sampling, coordinates, gradients);
  print("gradients", answers);
  expect_same(answers, "gradients");
}

TEST(TextureOnDevice, LevelsOfMipmaps) {
  SKIP_WITHOUT_GPU;
  const Image image = image_of(16, 8, 5);
  Sampling sampling = sampled(TextureAddressMode::clamp, true);
  std::vector<Coordinates> coordinates;
  for (const float level : {0.25F, 0.49F, 0.5F - 1.0F / 512, 0.5F, 0.5F + 1.0F / 512, 1.5F, 2.5F})
    coordinates.push_back(at(0, 0, level));
  const Answers nearest = fetched(tex_level, image, numbered(image), sampling, coordinates);
  print("nearest levels of 0.25, 0.49, 0.498, 0.5, 0.502, 1.5, 2.5", nearest);
  expect_same(nearest, "nearest levels");
  sampling.mipmap_filter = TextureFilter::linear;
  coordinates.clear();
  for (int i = 0; i <= 16; ++i) coordinates.push_back(at(0, 0, 1 + static_cast<float>(i) / 1024));
  const Answers between = fetched(tex_level, image, numbered(image), sampling, coordinates);
  print("between levels, in steps of 1/1024", between);
  expect_same(between, "weights of levels");
}

TEST(TextureOnDevice, BiasWithoutALevel) {
  SKIP_WITHOUT_GPU;
  const Image image = image_of(16, 8, 5);
  Sampling sampling = sampled(TextureAddressMode::clamp, true);
  sampling.level_bias = 1;
  const Answers biased = fetched(tex_2d, image, numbered(image), sampling, {at(0, 0)});
  print("tex with a bias of one level", biased);
  expect_same(biased, "bias");
  sampling.level_bias = 0;
  sampling.least_level = 2;
  const Answers clamped = fetched(tex_2d, image, numbered(image), sampling, {at(0, 0)});
  print("tex where the least level is 2", clamped);
  expect_same(clamped, "least level");
}

// Directions to places that are multiples of 1/16 in each face.
std::vector<Coordinates> directions(const std::vector<float>& places) {
  std::vector<Coordinates> all;
  for (const float sign : {1.0F, -1.0F})
    for (const float s : places)
      for (const float t : places) {
        all.push_back(at(sign, s, t));
        all.push_back(at(s, sign, t));
        all.push_back(at(s, t, sign));
      }
  return all;
}

TEST(TextureOnDevice, CubeMaps) {
  SKIP_WITHOUT_GPU;
  Image image = image_of(4, 4, 0, true);
  for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear}) {
    const Sampling sampling = sampled(TextureAddressMode::clamp, true, filter);
    expect_same(
        fetched(tex_cube, image, numbered(image), sampling, directions({-0.75F, -0.25F, 0.25F, 0.75F})),
        "texels of a cube map");
    const Answers edges =
        fetched(tex_cube, image, numbered(image), sampling, directions({-0.9375F, 0.9375F}));
    print(filter == TextureFilter::point ? "near edges" : "near edges, filtered", edges);
    expect_same(edges, "near edges");
  }
  const Answers gathered =
      fetched("tld4.r.cube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r1, %r2, %r3, %r3}];", image,
              numbered(image), sampled(TextureAddressMode::clamp, true), directions({-0.5F, 0.0F, 0.5F}));
  expect_same(gathered, "gathers of a cube map");
  image.layers = 2;
  std::vector<Words> layers(directions({0.25F}).size());
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i][0] = static_cast<std::uint32_t>(i % 2);
  expect_same(fetched("tex.acube.v4.f32.f32 {%r4, %r5, %r6, %r7}, [%rd1, {%r4, %r1, %r2, %r3}];", image,
                      numbered(image), sampled(TextureAddressMode::clamp, true), directions({0.25F}), layers),
              "layers of cube maps");
}

TEST(TextureOnDevice, EdgesOfCubeMaps) {
  SKIP_WITHOUT_GPU;
  const Image image = image_of(4, 4, 0, true);
  const Answers edges = fetched(tex_cube, image, numbered(image), sampled(TextureAddressMode::clamp, true),
                                directions({-1.0F, 0.25F, 1.0F}));
  print("on edges", edges);
  expect_same(edges, "edges");
}

// Formatted stores to the texels of one row, by both machines: the bytes of the row.
void store(TexelFormat format, const std::vector<Words>& data, Bytes& emulated, Bytes& found) {
  const std::string instruction = "sust.p.1d.v4.b32.zero [%rd1, {%r1}], {%r4, %r5, %r6, %r7};";
  Image image{0, format, static_cast<std::uint32_t>(data.size())};
  std::vector<Coordinates> coordinates;
  for (int i = 0; i < static_cast<int>(data.size()); ++i) coordinates.push_back(at_bytes(i));
  const Bytes before(bytes_of(image), 0xee);
  const DeviceImage array(image, before);
  cudaSurfaceObject_t surface = 0;
  check(cudaCreateSurfaceObject(&surface, &array.resource()), "making a surface");
  run_on_gpu(instruction, surface, coordinates, data);
  check(cudaDestroySurfaceObject(surface), "destroying a surface");
  found = array.bytes();
  found.resize(data.size() * static_cast<std::size_t>(format.bits * format.channels / 8));

  TextureMachine machine;
  image.address = machine.upload(before);
  machine.run(instruction, machine.emulator.create_surface(image), coordinates, data);
  emulated = machine.download<std::uint8_t>(image.address, found.size());
}

TEST(TextureOnDevice, FormattedStores) {
  SKIP_WITHOUT_GPU;
  constexpr auto s = TexelKind::signed_integer, u = TexelKind::unsigned_integer, f = TexelKind::real;
  for (const TexelFormat& format : {TexelFormat{f, 32, 4}, {f, 16, 4}, {f, 16, 1}, {f, 32, 2}})
    for (const float x : {0.0F, 1.0F, 0.5F}) {
      Bytes emulated, found;
      store(format, {{bits_of(x), bits_of(-2.5F), bits_of(1024), bits_of(-0.0F)}, {0, 0, 0, 0}}, emulated,
            found);
      EXPECT_EQ(emulated, found) << format.bits << " bits, " << format.channels << " channels";
    }
  for (const TexelFormat& format :
       {TexelFormat{s, 8, 4}, {s, 16, 2}, {s, 32, 1}, {u, 8, 1}, {u, 16, 4}, {u, 32, 2}}) {
    const std::uint32_t last = format.kind == s ? ~0U : 100U;
    Bytes emulated, found;
    store(format, {{1, 2, 3, 4}, {last, 127, 0, last}}, emulated, found);
    EXPECT_EQ(emulated, found) << format.bits << " bits, " << format.channels << " channels";
  }
}

// Reals between two of 16 bits, beyond the largest, and NaN.
TEST(TextureOnDevice, RoundsFormattedStores) {
  SKIP_WITHOUT_GPU;
  Bytes emulated, found;
  store({TexelKind::real, 16, 4},
        {{0x3f801000, 0x3f803000, 0x3f801001, 0xbf801000},
         {bits_of(65519), bits_of(65520), bits_of(1e30F), bits_of(-65520)},
         {0x33000000, 0x33000001, 0x33c00000, 0x7fc12345}},
        emulated, found);
  for (std::size_t i = 0; i < found.size(); i += 2) {
    const int its = found[i] | found[i + 1] << 8, ours = emulated[i] | emulated[i + 1] << 8;
    std::cout << std::hex << "f16 of a store: the GPU gives 0x" << its << ", the emulator 0x" << ours << '\n'
              << std::dec;
    EXPECT_EQ(ours, its) << i / 2;
  }
}

// What the emulator finds undefined is only printed.
TEST(TextureOnDevice, IntegersThatTexelsDoNotHold) {
  SKIP_WITHOUT_GPU;
  for (const TexelKind kind : {TexelKind::signed_integer, TexelKind::unsigned_integer}) {
    Bytes emulated, found;
    store({kind, 8, 4}, {{127, 128, 255, 256}, {0x12345678, 0x7fffffff, 0x80000000, ~0U}}, emulated, found);
    std::cout << (kind == TexelKind::signed_integer ? "signed" : "unsigned")
              << " 127 128 255 256 0x12345678 0x7fffffff 0x80000000 0xffffffff in 8 bits:";
    for (const std::uint8_t byte : found) std::cout << ' ' << int{byte};
    std::cout << '\n';
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
