// The operand lists of the inline assembly of wgmma.mma_async. An asm statement names its operands one by
// one, up to 128 accumulators here, and no template can write such a list. Included by wgmma_assembly.hpp and
// wgmma_sp_assembly.hpp. Defines macros only, all of them TENON_WGMMA_.
#pragma once

// The accumulators as text: "%0, %1, ...".
#define TENON_WGMMA_TEXT_2 "%0, %1"
#define TENON_WGMMA_TEXT_4 TENON_WGMMA_TEXT_2 ", %2, %3"
#define TENON_WGMMA_TEXT_6 TENON_WGMMA_TEXT_4 ", %4, %5"
#define TENON_WGMMA_TEXT_8 TENON_WGMMA_TEXT_6 ", %6, %7"
#define TENON_WGMMA_TEXT_10 TENON_WGMMA_TEXT_8 ", %8, %9"
#define TENON_WGMMA_TEXT_12 TENON_WGMMA_TEXT_10 ", %10, %11"
#define TENON_WGMMA_TEXT_14 TENON_WGMMA_TEXT_12 ", %12, %13"
#define TENON_WGMMA_TEXT_16 TENON_WGMMA_TEXT_14 ", %14, %15"
#define TENON_WGMMA_TEXT_18 TENON_WGMMA_TEXT_16 ", %16, %17"
#define TENON_WGMMA_TEXT_20 TENON_WGMMA_TEXT_18 ", %18, %19"
#define TENON_WGMMA_TEXT_22 TENON_WGMMA_TEXT_20 ", %20, %21"
#define TENON_WGMMA_TEXT_24 TENON_WGMMA_TEXT_22 ", %22, %23"
#define TENON_WGMMA_TEXT_26 TENON_WGMMA_TEXT_24 ", %24, %25"
#define TENON_WGMMA_TEXT_28 TENON_WGMMA_TEXT_26 ", %26, %27"
#define TENON_WGMMA_TEXT_30 TENON_WGMMA_TEXT_28 ", %28, %29"
#define TENON_WGMMA_TEXT_32 TENON_WGMMA_TEXT_30 ", %30, %31"
#define TENON_WGMMA_TEXT_34 TENON_WGMMA_TEXT_32 ", %32, %33"
#define TENON_WGMMA_TEXT_36 TENON_WGMMA_TEXT_34 ", %34, %35"
#define TENON_WGMMA_TEXT_38 TENON_WGMMA_TEXT_36 ", %36, %37"
#define TENON_WGMMA_TEXT_40 TENON_WGMMA_TEXT_38 ", %38, %39"
#define TENON_WGMMA_TEXT_42 TENON_WGMMA_TEXT_40 ", %40, %41"
#define TENON_WGMMA_TEXT_44 TENON_WGMMA_TEXT_42 ", %42, %43"
#define TENON_WGMMA_TEXT_46 TENON_WGMMA_TEXT_44 ", %44, %45"
#define TENON_WGMMA_TEXT_48 TENON_WGMMA_TEXT_46 ", %46, %47"
#define TENON_WGMMA_TEXT_50 TENON_WGMMA_TEXT_48 ", %48, %49"
#define TENON_WGMMA_TEXT_52 TENON_WGMMA_TEXT_50 ", %50, %51"
#define TENON_WGMMA_TEXT_54 TENON_WGMMA_TEXT_52 ", %52, %53"
#define TENON_WGMMA_TEXT_56 TENON_WGMMA_TEXT_54 ", %54, %55"
#define TENON_WGMMA_TEXT_58 TENON_WGMMA_TEXT_56 ", %56, %57"
#define TENON_WGMMA_TEXT_60 TENON_WGMMA_TEXT_58 ", %58, %59"
#define TENON_WGMMA_TEXT_62 TENON_WGMMA_TEXT_60 ", %60, %61"
#define TENON_WGMMA_TEXT_64 TENON_WGMMA_TEXT_62 ", %62, %63"
#define TENON_WGMMA_TEXT_68 TENON_WGMMA_TEXT_64 ", %64, %65, %66, %67"
#define TENON_WGMMA_TEXT_72 TENON_WGMMA_TEXT_68 ", %68, %69, %70, %71"
#define TENON_WGMMA_TEXT_76 TENON_WGMMA_TEXT_72 ", %72, %73, %74, %75"
#define TENON_WGMMA_TEXT_80 TENON_WGMMA_TEXT_76 ", %76, %77, %78, %79"
#define TENON_WGMMA_TEXT_84 TENON_WGMMA_TEXT_80 ", %80, %81, %82, %83"
#define TENON_WGMMA_TEXT_88 TENON_WGMMA_TEXT_84 ", %84, %85, %86, %87"
#define TENON_WGMMA_TEXT_92 TENON_WGMMA_TEXT_88 ", %88, %89, %90, %91"
#define TENON_WGMMA_TEXT_96 TENON_WGMMA_TEXT_92 ", %92, %93, %94, %95"
#define TENON_WGMMA_TEXT_100 TENON_WGMMA_TEXT_96 ", %96, %97, %98, %99"
#define TENON_WGMMA_TEXT_104 TENON_WGMMA_TEXT_100 ", %100, %101, %102, %103"
#define TENON_WGMMA_TEXT_108 TENON_WGMMA_TEXT_104 ", %104, %105, %106, %107"
#define TENON_WGMMA_TEXT_112 TENON_WGMMA_TEXT_108 ", %108, %109, %110, %111"
#define TENON_WGMMA_TEXT_116 TENON_WGMMA_TEXT_112 ", %112, %113, %114, %115"
#define TENON_WGMMA_TEXT_120 TENON_WGMMA_TEXT_116 ", %116, %117, %118, %119"
#define TENON_WGMMA_TEXT_124 TENON_WGMMA_TEXT_120 ", %120, %121, %122, %123"
#define TENON_WGMMA_TEXT_128 TENON_WGMMA_TEXT_124 ", %124, %125, %126, %127"

// The accumulators as operands: "+f"(d[0]), "+f"(d[1]), ...
#define TENON_WGMMA_REGISTERS_2(C) C(d[0]), C(d[1])
#define TENON_WGMMA_REGISTERS_4(C) TENON_WGMMA_REGISTERS_2(C), C(d[2]), C(d[3])
#define TENON_WGMMA_REGISTERS_6(C) TENON_WGMMA_REGISTERS_4(C), C(d[4]), C(d[5])
#define TENON_WGMMA_REGISTERS_8(C) TENON_WGMMA_REGISTERS_6(C), C(d[6]), C(d[7])
#define TENON_WGMMA_REGISTERS_10(C) TENON_WGMMA_REGISTERS_8(C), C(d[8]), C(d[9])
#define TENON_WGMMA_REGISTERS_12(C) TENON_WGMMA_REGISTERS_10(C), C(d[10]), C(d[11])
#define TENON_WGMMA_REGISTERS_14(C) TENON_WGMMA_REGISTERS_12(C), C(d[12]), C(d[13])
#define TENON_WGMMA_REGISTERS_16(C) TENON_WGMMA_REGISTERS_14(C), C(d[14]), C(d[15])
#define TENON_WGMMA_REGISTERS_18(C) TENON_WGMMA_REGISTERS_16(C), C(d[16]), C(d[17])
#define TENON_WGMMA_REGISTERS_20(C) TENON_WGMMA_REGISTERS_18(C), C(d[18]), C(d[19])
#define TENON_WGMMA_REGISTERS_22(C) TENON_WGMMA_REGISTERS_20(C), C(d[20]), C(d[21])
#define TENON_WGMMA_REGISTERS_24(C) TENON_WGMMA_REGISTERS_22(C), C(d[22]), C(d[23])
#define TENON_WGMMA_REGISTERS_26(C) TENON_WGMMA_REGISTERS_24(C), C(d[24]), C(d[25])
#define TENON_WGMMA_REGISTERS_28(C) TENON_WGMMA_REGISTERS_26(C), C(d[26]), C(d[27])
#define TENON_WGMMA_REGISTERS_30(C) TENON_WGMMA_REGISTERS_28(C), C(d[28]), C(d[29])
#define TENON_WGMMA_REGISTERS_32(C) TENON_WGMMA_REGISTERS_30(C), C(d[30]), C(d[31])
#define TENON_WGMMA_REGISTERS_34(C) TENON_WGMMA_REGISTERS_32(C), C(d[32]), C(d[33])
#define TENON_WGMMA_REGISTERS_36(C) TENON_WGMMA_REGISTERS_34(C), C(d[34]), C(d[35])
#define TENON_WGMMA_REGISTERS_38(C) TENON_WGMMA_REGISTERS_36(C), C(d[36]), C(d[37])
#define TENON_WGMMA_REGISTERS_40(C) TENON_WGMMA_REGISTERS_38(C), C(d[38]), C(d[39])
#define TENON_WGMMA_REGISTERS_42(C) TENON_WGMMA_REGISTERS_40(C), C(d[40]), C(d[41])
#define TENON_WGMMA_REGISTERS_44(C) TENON_WGMMA_REGISTERS_42(C), C(d[42]), C(d[43])
#define TENON_WGMMA_REGISTERS_46(C) TENON_WGMMA_REGISTERS_44(C), C(d[44]), C(d[45])
#define TENON_WGMMA_REGISTERS_48(C) TENON_WGMMA_REGISTERS_46(C), C(d[46]), C(d[47])
#define TENON_WGMMA_REGISTERS_50(C) TENON_WGMMA_REGISTERS_48(C), C(d[48]), C(d[49])
#define TENON_WGMMA_REGISTERS_52(C) TENON_WGMMA_REGISTERS_50(C), C(d[50]), C(d[51])
#define TENON_WGMMA_REGISTERS_54(C) TENON_WGMMA_REGISTERS_52(C), C(d[52]), C(d[53])
#define TENON_WGMMA_REGISTERS_56(C) TENON_WGMMA_REGISTERS_54(C), C(d[54]), C(d[55])
#define TENON_WGMMA_REGISTERS_58(C) TENON_WGMMA_REGISTERS_56(C), C(d[56]), C(d[57])
#define TENON_WGMMA_REGISTERS_60(C) TENON_WGMMA_REGISTERS_58(C), C(d[58]), C(d[59])
#define TENON_WGMMA_REGISTERS_62(C) TENON_WGMMA_REGISTERS_60(C), C(d[60]), C(d[61])
#define TENON_WGMMA_REGISTERS_64(C) TENON_WGMMA_REGISTERS_62(C), C(d[62]), C(d[63])
#define TENON_WGMMA_REGISTERS_68(C) TENON_WGMMA_REGISTERS_64(C), C(d[64]), C(d[65]), C(d[66]), C(d[67])
#define TENON_WGMMA_REGISTERS_72(C) TENON_WGMMA_REGISTERS_68(C), C(d[68]), C(d[69]), C(d[70]), C(d[71])
#define TENON_WGMMA_REGISTERS_76(C) TENON_WGMMA_REGISTERS_72(C), C(d[72]), C(d[73]), C(d[74]), C(d[75])
#define TENON_WGMMA_REGISTERS_80(C) TENON_WGMMA_REGISTERS_76(C), C(d[76]), C(d[77]), C(d[78]), C(d[79])
#define TENON_WGMMA_REGISTERS_84(C) TENON_WGMMA_REGISTERS_80(C), C(d[80]), C(d[81]), C(d[82]), C(d[83])
#define TENON_WGMMA_REGISTERS_88(C) TENON_WGMMA_REGISTERS_84(C), C(d[84]), C(d[85]), C(d[86]), C(d[87])
#define TENON_WGMMA_REGISTERS_92(C) TENON_WGMMA_REGISTERS_88(C), C(d[88]), C(d[89]), C(d[90]), C(d[91])
#define TENON_WGMMA_REGISTERS_96(C) TENON_WGMMA_REGISTERS_92(C), C(d[92]), C(d[93]), C(d[94]), C(d[95])
#define TENON_WGMMA_REGISTERS_100(C) TENON_WGMMA_REGISTERS_96(C), C(d[96]), C(d[97]), C(d[98]), C(d[99])
#define TENON_WGMMA_REGISTERS_104(C) TENON_WGMMA_REGISTERS_100(C), C(d[100]), C(d[101]), C(d[102]), C(d[103])
#define TENON_WGMMA_REGISTERS_108(C) TENON_WGMMA_REGISTERS_104(C), C(d[104]), C(d[105]), C(d[106]), C(d[107])
#define TENON_WGMMA_REGISTERS_112(C) TENON_WGMMA_REGISTERS_108(C), C(d[108]), C(d[109]), C(d[110]), C(d[111])
#define TENON_WGMMA_REGISTERS_116(C) TENON_WGMMA_REGISTERS_112(C), C(d[112]), C(d[113]), C(d[114]), C(d[115])
#define TENON_WGMMA_REGISTERS_120(C) TENON_WGMMA_REGISTERS_116(C), C(d[116]), C(d[117]), C(d[118]), C(d[119])
#define TENON_WGMMA_REGISTERS_124(C) TENON_WGMMA_REGISTERS_120(C), C(d[120]), C(d[121]), C(d[122]), C(d[123])
#define TENON_WGMMA_REGISTERS_128(C) TENON_WGMMA_REGISTERS_124(C), C(d[124]), C(d[125]), C(d[126]), C(d[127])

// X(D, constraint, type, registers, n, numbers of the 13 operands after the accumulators) for every type of
// D and n.
#define TENON_WGMMA_EACH(X)                                                                          \
  X(float, "+f", "f32", 4, 8, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)                          \
  X(float, "+f", "f32", 8, 16, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)                     \
  X(float, "+f", "f32", 12, 24, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)                  \
  X(float, "+f", "f32", 16, 32, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)                  \
  X(float, "+f", "f32", 20, 40, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32)                  \
  X(float, "+f", "f32", 24, 48, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36)                  \
  X(float, "+f", "f32", 28, 56, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40)                  \
  X(float, "+f", "f32", 32, 64, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44)                  \
  X(float, "+f", "f32", 36, 72, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48)                  \
  X(float, "+f", "f32", 40, 80, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52)                  \
  X(float, "+f", "f32", 44, 88, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56)                  \
  X(float, "+f", "f32", 48, 96, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60)                  \
  X(float, "+f", "f32", 52, 104, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64)                 \
  X(float, "+f", "f32", 56, 112, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68)                 \
  X(float, "+f", "f32", 60, 120, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72)                 \
  X(float, "+f", "f32", 64, 128, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76)                 \
  X(float, "+f", "f32", 68, 136, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80)                 \
  X(float, "+f", "f32", 72, 144, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84)                 \
  X(float, "+f", "f32", 76, 152, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88)                 \
  X(float, "+f", "f32", 80, 160, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92)                 \
  X(float, "+f", "f32", 84, 168, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96)                 \
  X(float, "+f", "f32", 88, 176, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100)                \
  X(float, "+f", "f32", 92, 184, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104)            \
  X(float, "+f", "f32", 96, 192, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108)        \
  X(float, "+f", "f32", 100, 200, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112)   \
  X(float, "+f", "f32", 104, 208, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116)   \
  X(float, "+f", "f32", 108, 216, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120)   \
  X(float, "+f", "f32", 112, 224, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124)   \
  X(float, "+f", "f32", 116, 232, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128)   \
  X(float, "+f", "f32", 120, 240, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132)   \
  X(float, "+f", "f32", 124, 248, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136)   \
  X(float, "+f", "f32", 128, 256, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140)   \
  X(uint32_t, "+r", "f16", 2, 8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)                         \
  X(uint32_t, "+r", "f16", 4, 16, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)                      \
  X(uint32_t, "+r", "f16", 6, 24, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18)                    \
  X(uint32_t, "+r", "f16", 8, 32, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)                  \
  X(uint32_t, "+r", "f16", 10, 40, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)               \
  X(uint32_t, "+r", "f16", 12, 48, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)               \
  X(uint32_t, "+r", "f16", 14, 56, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26)               \
  X(uint32_t, "+r", "f16", 16, 64, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)               \
  X(uint32_t, "+r", "f16", 18, 72, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)               \
  X(uint32_t, "+r", "f16", 20, 80, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32)               \
  X(uint32_t, "+r", "f16", 22, 88, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34)               \
  X(uint32_t, "+r", "f16", 24, 96, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36)               \
  X(uint32_t, "+r", "f16", 26, 104, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38)              \
  X(uint32_t, "+r", "f16", 28, 112, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40)              \
  X(uint32_t, "+r", "f16", 30, 120, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42)              \
  X(uint32_t, "+r", "f16", 32, 128, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44)              \
  X(uint32_t, "+r", "f16", 34, 136, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46)              \
  X(uint32_t, "+r", "f16", 36, 144, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48)              \
  X(uint32_t, "+r", "f16", 38, 152, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50)              \
  X(uint32_t, "+r", "f16", 40, 160, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52)              \
  X(uint32_t, "+r", "f16", 42, 168, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54)              \
  X(uint32_t, "+r", "f16", 44, 176, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56)              \
  X(uint32_t, "+r", "f16", 46, 184, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58)              \
  X(uint32_t, "+r", "f16", 48, 192, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60)              \
  X(uint32_t, "+r", "f16", 50, 200, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62)              \
  X(uint32_t, "+r", "f16", 52, 208, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64)              \
  X(uint32_t, "+r", "f16", 54, 216, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66)              \
  X(uint32_t, "+r", "f16", 56, 224, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68)              \
  X(uint32_t, "+r", "f16", 58, 232, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70)              \
  X(uint32_t, "+r", "f16", 60, 240, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72)              \
  X(uint32_t, "+r", "f16", 62, 248, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74)              \
  X(uint32_t, "+r", "f16", 64, 256, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76)              \
  X(int32_t, "+r", "s32", 4, 8, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)                        \
  X(int32_t, "+r", "s32", 8, 16, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)                   \
  X(int32_t, "+r", "s32", 12, 24, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)                \
  X(int32_t, "+r", "s32", 16, 32, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28)                \
  X(int32_t, "+r", "s32", 24, 48, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36)                \
  X(int32_t, "+r", "s32", 32, 64, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44)                \
  X(int32_t, "+r", "s32", 40, 80, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52)                \
  X(int32_t, "+r", "s32", 48, 96, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60)                \
  X(int32_t, "+r", "s32", 56, 112, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68)               \
  X(int32_t, "+r", "s32", 64, 128, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76)               \
  X(int32_t, "+r", "s32", 72, 144, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84)               \
  X(int32_t, "+r", "s32", 80, 160, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92)               \
  X(int32_t, "+r", "s32", 88, 176, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100)              \
  X(int32_t, "+r", "s32", 96, 192, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108)      \
  X(int32_t, "+r", "s32", 104, 208, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116) \
  X(int32_t, "+r", "s32", 112, 224, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124) \
  X(int32_t, "+r", "s32", 120, 240, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132) \
  X(int32_t, "+r", "s32", 128, 256, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140)
