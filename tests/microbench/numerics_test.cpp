// The probes of tenon_numerics on chips whose arithmetic is known: the emulator with each of its models, and
// imaginary chips. From the answers alone the probes must find the parameters of the arithmetic.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "microbench/numerics/emulator_subject.hpp"
#include "microbench/numerics/report.hpp"

namespace tenon::probing {
namespace {

using namespace emulator::numerics;
using emulator::Numerics;

const NamedForm& form_of(const std::string& text) {
  if (const NamedForm* found = find_form(text)) return *found;
  for (const NamedForm& named : wgmma_forms()) {
    if (named.text == text) return named;
  }
  throw std::logic_error("no form " + text);
}

const std::string half = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
const std::string half_result = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
const std::string brain = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
const std::string tf32_k8 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
const std::string fp8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32";
const std::string wgmma_fp8 = "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3";
const std::string wgmma_half = "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16";

Character character_of(Subject& subject, const std::string& form) {
  Interview interview(subject, form_of(form));
  return characterise(interview);
}

std::string order_of(const Character& character, int products) {
  return character.order.kind == Order::Kind::steps   ? describe(character.order.last_step, products)
         : character.order.kind == Order::Kind::exact ? "exact"
                                                      : character.order.why;
}

std::string trait(const Character& character, const std::string& what) {
  for (const Trait& found : character.traits) {
    if (found.what == what) return found.answer;
  }
  return "not asked";
}

void expect_equal(const Arithmetic& found, const Arithmetic& expected, const std::string& where) {
  EXPECT_EQ(found.exact, expected.exact) << where;
  if (expected.exact) return;
  EXPECT_EQ(found.group, expected.group) << where;
  EXPECT_EQ(found.fraction, expected.fraction) << where;
  EXPECT_EQ(found.result, expected.result) << where;
  EXPECT_EQ(found.fp8_by_halves, expected.fp8_by_halves) << where;
}

TEST(Probes, FindTheParametersOfEveryModelFromItsAnswersAlone) {
  const std::pair<Numerics, Model> models[] = {{Numerics::sm_75, Model::sm_75},
                                               {Numerics::sm_80, Model::sm_80},
                                               {Numerics::sm_89, Model::sm_89},
                                               {Numerics::sm_90, Model::sm_90},
                                               {Numerics::ieee, Model::ieee}};
  for (const auto& [numerics, model] : models) {
    EmulatorSubject subject(numerics);
    for (const std::string& text : {half, half_result, brain, tf32_k8, fp8, wgmma_fp8, wgmma_half}) {
      const Form& form = form_of(text).form;
      const std::string where = text + " as " + name(numerics);
      const Character found = character_of(subject, text);
      ASSERT_TRUE(found.arithmetic) << where << ": " << order_of(found, form.shape.k);
      expect_equal(*found.arithmetic, arithmetic_of(model, form.unit, form.a, form.d, form.shape.k), where);
    }
  }
}

TEST(Probes, FindTheOrderOfSteps) {
  EmulatorSubject ampere(Numerics::sm_80), hopper(Numerics::sm_90), ieee(Numerics::ieee);
  EXPECT_EQ(order_of(character_of(ampere, half), 16), "(c + k0..7) + k8..15");
  EXPECT_EQ(order_of(character_of(hopper, half), 16), "c + k0..15");
  EXPECT_EQ(order_of(character_of(ampere, tf32_k8), 8), "(c + k0..3) + k4..7");
  EXPECT_EQ(order_of(character_of(ampere, fp8), 32), "(c + k0..15) + k16..31");
  EXPECT_EQ(order_of(character_of(hopper, wgmma_fp8), 32), "c + k0..31");
  EXPECT_EQ(order_of(character_of(ieee, half), 16), "exact");
  EXPECT_EQ(order_of(character_of(hopper, "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32"), 16),
            "c + ((k0 + k1 + k4 + k5 + k8 + k9 + k12 + k13) + k2 + k3 + k6 + k7 + k10 + k11 + k14 + k15)");
  // From sm_80 on the assembler implements m8n8k4 by f32 instructions.
  EXPECT_EQ(order_of(character_of(hopper, "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"), 4),
            "(c + (k0 + k1)) + (k2 + k3)");
}

TEST(Probes, FindTheRoundingOfDoublesWhateverItsDirection) {
  EmulatorSubject subject(Numerics::sm_90);
  const std::pair<const char*, Direction> cases[] = {{".rn", Direction::nearest_even},
                                                     {".rz", Direction::to_zero},
                                                     {".rm", Direction::down},
                                                     {".rp", Direction::up}};
  for (const auto& [suffix, direction] : cases) {
    const Character found =
        character_of(subject, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64" + std::string(suffix));
    EXPECT_EQ(order_of(found, 4), "(((c + k0) + k1) + k2) + k3") << suffix;
    ASSERT_EQ(found.rounding.size(), 4U);
    for (const StepRounding& rounding : found.rounding) {
      EXPECT_EQ(rounding.rounding, direction) << suffix;
      EXPECT_EQ(rounding.result_bits, 52) << suffix;
    }
  }
}

TEST(Probes, FindWhereTheAlignmentEnds) {
  EmulatorSubject ampere(Numerics::sm_80), hopper(Numerics::sm_90);
  EXPECT_EQ(character_of(ampere, brain).rounding.front().minimum_exponent, -132);
  EXPECT_EQ(character_of(hopper, brain).rounding.front().minimum_exponent, -133);
  EXPECT_EQ(character_of(ampere, half_result).rounding.front().minimum_exponent, -20);
  EXPECT_EQ(character_of(hopper, half_result).rounding.front().minimum_exponent, -21);
  // Products of f16 are not small enough to show it in f32.
  EXPECT_EQ(character_of(hopper, half).rounding.front().minimum_exponent, std::nullopt);
}

TEST(Probes, FindTheTreatmentOfSpecialValues) {
  EmulatorSubject subject(Numerics::sm_90);
  const Character found = character_of(subject, brain);
  EXPECT_EQ(trait(found, "NaN factor"), "0x7fffffff");
  EXPECT_EQ(trait(found, "infinity minus infinity"), "0x7fffffff");
  EXPECT_EQ(trait(found, "subnormal factors"), "kept");
  EXPECT_EQ(trait(found, "sum of negative zeros"), "+0");
  EXPECT_EQ(trait(found, "exponent of a zero product"), "not looked at");
  EXPECT_EQ(trait(found, "largest number + half its last place"), "the largest number");
  EXPECT_EQ(trait(found, "sum beyond the largest number"), "infinity");
  EXPECT_EQ(trait(found, "cancelling products beyond the result's range"), "0");
  EXPECT_EQ(trait(character_of(subject, half_result), "NaN factor"), "0x7fff");
  const std::string integer = "mma.sync.aligned.m16n8k32.row.col";
  EXPECT_EQ(trait(character_of(subject, integer + ".s32.s8.s8.s32"), "overflow of the sum"), "wraps");
  EXPECT_EQ(trait(character_of(subject, integer + ".satfinite.s32.s8.s8.s32"), "overflow of the sum"),
            "clamps");
}

TEST(Fit, NamesTheModelThatTheChipHas) {
  const std::pair<Numerics, std::vector<std::string>> cases[] = {{Numerics::sm_75, {"sm_75"}},
                                                                 {Numerics::sm_80, {"sm_80", "sm_89"}},
                                                                 {Numerics::sm_90, {"sm_90"}},
                                                                 {Numerics::ieee, {"ieee"}}};
  for (const auto& [numerics, expected] : cases) {
    EmulatorSubject subject(numerics);
    Examination examination{subject.description(), subject.sm(), {4000, 1}, {}};
    for (const std::string& text :
         {std::string("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"), half, half_result, fp8, wgmma_fp8,
          std::string("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32"),
          std::string("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite")}) {
      examination.forms.push_back(examine(subject, form_of(text), examination.sampling));
    }
    EXPECT_EQ(fitting_models(examination.forms), expected) << verdict(examination);
    EXPECT_EQ(to_json(examination)["fits"].get<std::vector<std::string>>(), expected);
    for (const FormReport& report : examination.forms) {
      EXPECT_GE(report.fits.front().results, 4000U) << report.named.text;
    }
  }
}

// A chip with its own parameters.
class AlteredChip : public Subject {
 public:
  explicit AlteredChip(const Arithmetic& arithmetic) : arithmetic_(arithmetic) {}
  std::string description() const override { return "an altered chip"; }
  int sm() const override { return 90; }
  void execute(const NamedForm& named, std::vector<Registers>& sets) override {
    const Mma mma(named.form);
    for (Registers& registers : sets) {
      mma(arithmetic_, registers);
      change(mma, registers);
    }
  }

 protected:
  virtual void change(const Mma& /*mma*/, Registers& /*registers*/) const {}

 private:
  Arithmetic arithmetic_;
};

TEST(Fit, SaysThatNoModelFitsAChipWithOtherParameters) {
  const Arithmetic hopper =
      arithmetic_of(Model::sm_90, Unit::mma, emulator::ptx::Type::bf16, emulator::ptx::Type::f32, 16);
  std::vector<Arithmetic> altered(5, hopper);
  altered[0].fraction = 24;  // sm_80's bits, sm_90's width
  altered[1].group = 8;      // the other order
  altered[2].fraction = 23;
  altered[3].minimum_exponent = -130;
  altered[4].result = Arithmetic::Result::f32_cut_to_13_bits;
  for (const Arithmetic& arithmetic : altered) {
    AlteredChip chip(arithmetic);
    Examination examination{chip.description(), chip.sm(), {4000, 1}, {}};
    examination.forms.push_back(examine(chip, form_of(brain), examination.sampling));
    EXPECT_TRUE(fitting_models(examination.forms).empty());
    const std::string text = verdict(examination);
    EXPECT_EQ(text.rfind("no model of the emulator is the arithmetic of an altered chip:\n", 0), 0U) << text;
    for (const char* model : {"sm_75", "sm_80", "sm_89", "sm_90", "ieee"}) {
      EXPECT_NE(text.find("  " + std::string(model) + " differs first in " + brain), std::string::npos)
          << text;
    }
    // But the probes found the chip's own parameters, which answer every question as it does.
    const FormReport& report = examination.forms.front();
    ASSERT_TRUE(report.character.arithmetic);
    expect_equal(*report.character.arithmetic, arithmetic, text);
    EXPECT_EQ(report.character.arithmetic->minimum_exponent, arithmetic.minimum_exponent);
    ASSERT_EQ(report.fits.back().model, "probed");
    EXPECT_EQ(report.fits.back().differences, 0U) << report.fits.back().first;
  }
}

// A chip whose every NaN has the pattern of IEEE 754's default.
class OtherNan : public AlteredChip {
 public:
  using AlteredChip::AlteredChip;

 protected:
  void change(const Mma& mma, Registers& registers) const override {
    for (int reg = 0; reg < mma.d().registers(); ++reg) {
      for (std::uint64_t& value : registers.d[reg]) {
        if (value == f32.nan()) value = 0x7fc00000;
      }
    }
  }
};

TEST(Fit, SeesAChipThatDiffersInItsNanAlone) {
  OtherNan chip(
      arithmetic_of(Model::sm_90, Unit::mma, emulator::ptx::Type::bf16, emulator::ptx::Type::f32, 16));
  const FormReport report = examine(chip, form_of(brain), {4000, 1});
  EXPECT_TRUE(fitting_models({report}).empty());
  EXPECT_EQ(trait(report.character, "NaN factor"), "0x7fc00000");
  const Fit& hopper = report.fits[3];
  ASSERT_EQ(hopper.model, "sm_90");
  EXPECT_EQ(hopper.first, "NaN factor: the device says 0x7fc00000, the model 0x7fffffff");
}

// A chip that adds a unit in the last place to every result, which no tree of steps explains.
class NoTreeChip : public AlteredChip {
 public:
  using AlteredChip::AlteredChip;

 protected:
  void change(const Mma& mma, Registers& registers) const override {
    for (int reg = 0; reg < mma.d().registers(); ++reg) {
      for (std::uint64_t& value : registers.d[reg]) value ^= 1;
    }
  }
};

TEST(Probes, SayWhereNoTreeExplainsTheAnswers) {
  NoTreeChip chip(
      arithmetic_of(Model::sm_90, Unit::mma, emulator::ptx::Type::bf16, emulator::ptx::Type::f32, 16));
  const FormReport report = examine(chip, form_of(brain), {500, 1});
  EXPECT_EQ(report.character.order.kind, Order::Kind::unclear);
  EXPECT_NE(report.character.order.why.find("not a number of units"), std::string::npos)
      << report.character.order.why;
  EXPECT_FALSE(report.character.arithmetic);
  EXPECT_TRUE(fitting_models({report}).empty());
  EXPECT_NE(text(report).find("no tree of steps"), std::string::npos);
}

class Missing : public Subject {
 public:
  std::string description() const override { return "nothing"; }
  int sm() const override { return 90; }
  void execute(const NamedForm& /*named*/, std::vector<Registers>& /*sets*/) override {
    throw Unsupported("it has no such instruction");
  }
};

TEST(Fit, OfAFormThatCannotBeExecutedIsNoFit) {
  Missing chip;
  Examination examination{chip.description(), chip.sm(), {}, {}};
  examination.forms.push_back(examine(chip, form_of(half), examination.sampling));
  EXPECT_TRUE(fitting_models(examination.forms).empty());
  EXPECT_EQ(to_json(examination)["forms"][0]["unsupported"], "it has no such instruction");
  EXPECT_NE(text(examination.forms[0]).find("not executed: it has no such instruction"), std::string::npos);
}

TEST(Form, WgmmaKernelsComputeWhatTheModelSays) {
  EmulatorSubject subject(Numerics::sm_90);
  for (const NamedForm& named : wgmma_forms()) {
    const FormReport report = examine(subject, named, {2000, 3});
    ASSERT_EQ(report.fits[3].model, "sm_90");
    EXPECT_EQ(report.fits[3].differences, 0U) << named.text << ": " << report.fits[3].first;
  }
}

}  // namespace
}  // namespace tenon::probing
