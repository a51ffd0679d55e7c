// The diagnosis of doctor_problem.hpp: compares the library's plan for the problem with faster ones.
#include "command_line/doctor_problem.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "gemm/fitted_columns.hpp"
#include "gemm/select.hpp"
#include "host/plan.hpp"

namespace tenon::command {
namespace {

using Severity = Obstacle::Severity;

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  char buffer[512];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

long long number(std::int64_t value) {
  return value;
}

std::int64_t divide_up(std::int64_t x, std::int64_t y) {
  return x / y + (x % y != 0 ? 1 : 0);
}

std::string percent(double part) {
  return text("%.*f %%", part < 0.1 ? 1 : 0, 100 * part);
}

std::string tiles(std::int64_t count, const TileOfC& tile) {
  return text("%lld tile%s of %d x %d", number(count), count == 1 ? "" : "s", tile.m, tile.n);
}

// An operand, with the words for its contiguous vectors.
struct NamedOperand {
  char letter;
  const char* vectors;  // "rows" or "columns"
  const ConstMatrix& matrix;
  std::int64_t length;  // elements of a row (column)

  char ld() const { return static_cast<char>(letter - 'A' + 'a'); }
  // Kernels take operands of 16 bits in both orders, others only with k contiguous.
  bool must_be_transposed() const {
    return bytes(matrix.type) != 2 && matrix.order != (letter == 'A' ? row_major : column_major);
  }
};

NamedOperand operand_a(const Gemm& p) {
  const bool by_rows = p.a.order == row_major;
  return {'A', by_rows ? "rows" : "columns", p.a, by_rows ? p.k : p.m};
}
NamedOperand operand_b(const Gemm& p) {
  const bool by_rows = p.b.order == row_major;
  return {'B', by_rows ? "rows" : "columns", p.b, by_rows ? p.n : p.k};
}

// What a sentence about a copy of an operand says about the workspace.
const char* about_workspace(const Diagnosis& d) {
  return d.kernel_without_workspace != nullptr ? "if a workspace is given" : "so a workspace is required";
}

// A leading dimension with which all rows (columns) begin on L2 sectors if the first one does.
std::int64_t good_ld(const ConstMatrix& matrix) {
  const auto step = static_cast<std::int64_t>(32 / bytes(matrix.type));
  return divide_up(matrix.ld, step) * step;
}

// Rows (columns) that TMA can load, but more slowly.
void look_at_sectors(const NamedOperand& x, const Diagnosis& d, std::vector<Obstacle>* found) {
  if (d.kernel->copy != Copy::tma || begins_sectors_of_the_l2(x.matrix)) return;
  const bool ld_fits = good_ld(x.matrix) == x.matrix.ld;
  found->push_back(
      {"alignment", Severity::note,
       text("%s %s of %c begin between multiples of 32 bytes, the sectors of the L2 (ld%c is %lld): the "
            "L2 has more work with them, which large tiles hide and small ones do not",
            ld_fits ? "all" : "half of the", x.vectors, x.letter, x.ld(), number(x.matrix.ld)),
       ld_fits ? text("let %c begin at a multiple of 32 bytes", x.letter)
               : text("ld%c = %lld", x.ld(), number(good_ld(x.matrix)))});
}

void look_at_alignment(const NamedOperand& x, const Diagnosis& d, std::vector<Obstacle>* found) {
  if (x.must_be_transposed()) return;
  if (copy_alignment(x.matrix) >= 16) return look_at_sectors(x, d, found);
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(x.matrix.data) % 16);
  const auto step = static_cast<std::int64_t>(16 / bytes(x.matrix.type));
  const bool ld_fits = x.matrix.ld % step == 0;
  std::string message =
      ld_fits ? text("%c begins %d bytes past a multiple of 16", x.letter, beyond)
              : text("ld%c is %lld, not a multiple of %lld, so %s of %c begin where 16-byte copies cannot",
                     x.ld(), number(x.matrix.ld), number(step), x.vectors, x.letter);
  const bool padded = x.letter == 'A' ? d.pads_a : d.pads_b;
  message += padded ? text(": it is copied to aligned rows first, %s", about_workspace(d))
             : d.kernel->row_interleaved || d.kernel->unaligned
                 ? ": TMA reads it through row-interleaved (stride-8) views"
                 : ": it is copied to shared memory in smaller pieces";
  std::string remedy = ld_fits ? text("let %c begin at a multiple of 16 bytes", x.letter)
                               : text("ld%c = %lld: a leading dimension need not be the width of the matrix",
                                      x.ld(), number(good_ld(x.matrix)));
  if (!ld_fits && beyond != 0) remedy += text(", and begin %c at a multiple of 16 bytes", x.letter);
  found->push_back({"alignment", Severity::against, std::move(message), std::move(remedy)});
}

void look_at_layout(const NamedOperand& x, const Diagnosis& d, std::vector<Obstacle>* found) {
  if (!x.must_be_transposed()) return;
  found->push_back(
      {"layout", Severity::against,
       text("%c is %s, but elements of %s are multiplied with k contiguous: it is transposed into "
            "the workspace first, %s",
            x.letter, x.matrix.order == row_major ? "row-major" : "column-major", name(x.matrix.type),
            about_workspace(d)),
       "layout tn: A row-major and B column-major need no copy"});
}

void look_at_stores(const Gemm& p, const Kernel& kernel, std::vector<Obstacle>* found) {
  const bool by_tma = kernel.instruction == Instruction::wgmma;
  const auto address = reinterpret_cast<std::uintptr_t>(p.c.data);
  const auto element = static_cast<int>(bytes(p.c.type));
  const int step = element == 4 && !by_tma ? 8 : 16;
  if (address % static_cast<unsigned>(step) != 0 || p.c.ld * element % step != 0) {
    found->push_back(
        {"alignment", Severity::note,
         text("not all rows of C begin at multiples of %d bytes (ldc is %lld, C begins %d bytes past one): "
              "they are stored in narrower or shifted pieces",
              step, number(p.c.ld), static_cast<int>(address % static_cast<unsigned>(step))),
         text("C at a multiple of %d bytes, ldc a multiple of %d", step, step / element)});
  } else if (by_tma && p.n * element % step != 0) {
    found->push_back(
        {"alignment", Severity::note,
         text("rows of C end within 16 bytes (n is %lld), which TMA would write whole: they are stored in "
              "narrower pieces",
              number(p.n)),
         text("n a multiple of %d", step / element)});
  }
}

// Elements per unit of the modelled time. Without what was learned beside the model, which is of kernels that
// compete for one problem, and says little of two problems.
double rate(const Kernel& kernel, const Gemm& p, const DeviceDescription& device) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) / modelled_cost(kernel, p, device);
}

double efficiency(const Kernel& kernel, const Gemm& p, const DeviceDescription& device) {
  Gemm large = p;  // whole tiles, and whole waves however many CTAs a multiprocessor holds
  large.m = std::int64_t{kernel.tile_m} * 64;
  large.n = std::int64_t{kernel.tile_n} * std::max(device.multiprocessors, 1);
  return rate(kernel, p, device) / rate(kernel, large, device);
}

void look_at_size(const Gemm& p, const DeviceDescription& device, const Diagnosis& d,
                  std::vector<Obstacle>* found) {
  const Kernel& kernel = *d.kernel;
  const int machine = std::max(device.multiprocessors, 1);
  const TileOfC tile = tile_of(kernel, p, device);
  const double covered = static_cast<double>(divide_up(p.m, tile.m) * tile.m) *
                         static_cast<double>(divide_up(p.n, tile.n) * tile.n);
  const double useful = static_cast<double>(p.m) * static_cast<double>(p.n) / covered;
  if (d.tiles < machine) {
    found->push_back({"size", Severity::against,
                      text("C is %s, so %lld of %d multiprocessors have nothing to do",
                           tiles(d.tiles, tile).c_str(), number(machine - d.tiles), machine),
                      "more rows or columns in one product: several problems with the same B, say, as one"});
  } else if (d.efficiency < 0.9 * useful) {
    found->push_back({"size", Severity::note,
                      text("%s make no whole number of waves on %d multiprocessors: in the last one some "
                           "have nothing to do",
                           tiles(d.tiles, tile).c_str(), machine),
                      ""});
  }
  if (useful < 0.9) {
    found->push_back(
        {"size", useful < 0.5 ? Severity::against : Severity::note,
         text("%s of the tiles (%d x %d) lies inside C, %lld x %lld; the rest multiplies zeros",
              percent(useful).c_str(), tile.m, tile.n, number(p.m), number(p.n)),
         text("m a multiple of %d, n of %d; nothing has to be padded by the caller for a correct result",
              tile.m, tile.n)});
  }
  if (p.k % kernel.tile_k != 0 && p.k < 8 * std::int64_t{kernel.tile_k}) {
    found->push_back({"size", Severity::note,
                      text("k is %lld but the kernel multiplies %d at a time: %s of the products are with "
                           "elements of A and B, the rest with zeros",
                           number(p.k), kernel.tile_k,
                           percent(static_cast<double>(p.k) /
                                   static_cast<double>(divide_up(p.k, kernel.tile_k) * kernel.tile_k))
                               .c_str()),
                      text("k a multiple of %d", kernel.tile_k)});
  }
  if (p.k < std::int64_t{kernel.stages} * kernel.tile_k) {
    found->push_back(
        {"size", Severity::note,
         text("k is %lld but the kernel loads up to %d x %d ahead: a tile ends before the loads are that "
              "far ahead of the tensor cores",
              number(p.k), kernel.stages, kernel.tile_k),
         ""});
  }
}

// Notes if a faster kernel for these types and orders refuses only because of the device.
void look_at_device(const std::vector<Kernel>& list, const Gemm& planned, const DeviceDescription& device,
                    const Diagnosis& d, std::vector<Obstacle>* found) {
  double least = estimated_cost(*d.kernel, planned, device);
  Status why;
  for (const Kernel& kernel : list) {
    Status refusal;
    if (!is_offered(kernel, planned) || accepts(kernel, planned, device, &refusal) ||
        refusal.code() != StatusCode::device_unsupported) {
      continue;
    }
    if (const double cost = estimated_cost(kernel, planned, device); cost < least) {
      least = cost;
      why = refusal;
    }
  }
  if (!why) found->push_back({"device", Severity::note, why.message(), ""});
}

void diagnose_f32(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device,
                  Diagnosis* d) {
  const auto gets = [](const Kernel* kernel) {
    return kernel != nullptr ? ": the problem then gets " + kernel->name : std::string();
  };
  Gemm as_tf32 = problem;
  as_tf32.a.type = as_tf32.b.type = Type::tf32;
  std::string remedy;
  if (const Kernel* kernel = diagnose(list, as_tf32, device).kernel) {
    remedy = "declare them tf32: the tensor cores ignore their lowest 13 bits" + gets(kernel) + "; faster: ";
  }
  Gemm rounded = problem;
  const auto to_bf16 = [](ConstMatrix* x) {
    x->type = Type::bf16;
    x->data = nullptr;  // the rounded copy is another matrix, and aligned
    x->ld = good_ld(*x);
  };
  to_bf16(&rounded.a);
  to_bf16(&rounded.b);
  d->obstacles.push_back(
      {"type", Severity::against,
       "A and B are f32: a product of f32 runs on CUDA cores and leaves the tensor cores idle, and the "
       "library has no kernel for it",
       remedy + "round A and B to bf16 or f16, with accumulators in f32 and, if wanted, C in f32" +
           gets(diagnose(list, rounded, device).kernel)});
}

}  // namespace

Diagnosis diagnose(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device) {
  Diagnosis d;
  Gemm p = with_unused_lds_aligned(problem);
  p.kernel = nullptr;
  p.workspace = nullptr;
  p.workspace_bytes = 0;
  if (p.a.type == Type::f32 || p.b.type == Type::f32) {
    diagnose_f32(list, p, device, &d);
    return d;
  }
  if (p.m == 0 || p.n == 0 || p.k == 0) {
    d.obstacles.push_back(
        {"empty", Severity::note, "m, n or k is 0: there is nothing to multiply, and no kernel runs", ""});
    return d;
  }
  Plan plan;
  if (make_plan(list, p, device, &plan)) d.kernel_without_workspace = plan.kernel;
  d.workspace_bytes = planned_workspace(list, p, device);
  // The plan needs the address and the size of the workspace, and does not access it.
  alignas(256) static char aligned = 0;
  p.workspace = &aligned;
  p.workspace_bytes = d.workspace_bytes;
  if (const Status s = make_plan(list, p, device, &plan); !s) {
    const bool of_size =
        std::any_of(list.begin(), list.end(), [&](const Kernel& kernel) { return is_kind_of(kernel, p); });
    d.obstacles.push_back({s.code() == StatusCode::device_unsupported ? "device"
                           : of_size                                  ? "size"
                                                                      : "type",
                           Severity::against, s.message(), ""});
    return d;
  }
  d.kernel = plan.kernel;
  d.pads_a = plan.pad_a;
  d.pads_b = plan.pad_b;
  Gemm planned = planned_problem(p, plan);  // it may be the transpose of this one
  if (plan.pad_b && !plan.swaps_ab) planned.b.data = &aligned;
  const TileOfC tile = tile_of(*d.kernel, planned, device);
  d.tiles = divide_up(planned.m, tile.m) * divide_up(planned.n, tile.n);
  d.efficiency = efficiency(*d.kernel, planned, device);
  look_at_alignment(operand_a(p), d, &d.obstacles);
  look_at_alignment(operand_b(p), d, &d.obstacles);
  look_at_layout(operand_a(p), d, &d.obstacles);
  look_at_layout(operand_b(p), d, &d.obstacles);
  look_at_stores(p, *d.kernel, &d.obstacles);
  look_at_size(planned, device, d, &d.obstacles);
  look_at_device(list, planned, device, d, &d.obstacles);
  return d;
}

}  // namespace tenon::command
