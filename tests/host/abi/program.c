/* A program that was compiled with the headers of version 0.2, linked with the library of today. Each answer
 * shows that a field at or near the end of a struct is where the library looks for it. No device is needed.
 * Exit status: 0 as expected. */
#include <stdio.h>
#include <string.h>

#include "tenon/tenon.h"

#if TENON_VERSION_MAJOR != 0 || TENON_VERSION_MINOR != 2
#error "this program is compiled with the headers of version 0.2"
#endif

static int failures = 0;

static void expect(const char* what, const char* found, const char* wanted) {
  if (strstr(found, wanted) != NULL) return;
  printf("%s: found '%s', expected '%s'\n", what, found, wanted);
  ++failures;
}

static char a[64], b[64], c[64];

int main(void) {
  expect("tenon_version", tenon_version(), "0.");

  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = p.n = p.k = 64;
  p.a = (tenon_const_matrix){.data = a, .ld = 64, .order = TENON_ROW_MAJOR, .type = TENON_F16};
  p.b = (tenon_const_matrix){.data = b, .ld = 64, .order = TENON_COLUMN_MAJOR, .type = TENON_F16};
  p.c = (tenon_matrix){.data = c, .ld = 63, .type = TENON_F32};
  expect("tenon_gemm_can_implement", tenon_gemm_can_implement(&p).message, "ldc is 63");
  p.c.ld = 64;
  p.workspace_bytes = 9;
  expect("tenon_gemm", tenon_gemm(&p, NULL).message, "workspace_bytes is 9");
  p.workspace_bytes = 0;
  p.multiprocessors = -5;
  expect("tenon_gemm", tenon_gemm(&p, NULL).message, "multiprocessors is -5");
  tenon_prepared_gemm* prepared = NULL;
  expect("tenon_gemm_prepare", tenon_gemm_prepare(&p, &prepared).message, "multiprocessors is -5");
  p.multiprocessors = 0;

  tenon_gemm_batch batch = tenon_gemm_batch_default();
  batch.problem = &p;
  batch.count = -3;
  expect("tenon_gemm_batched", tenon_gemm_batched(&batch, NULL).message, "-3");
  batch.count = 2;
  batch.list_alignment = 3;
  expect("tenon_gemm_batched_can_implement", tenon_gemm_batched_can_implement(&batch).message, "is 3");

  tenon_gemm_grouped_problem grouped = tenon_gemm_grouped_problem_default();
  grouped.groups = -7;
  expect("tenon_gemm_grouped", tenon_gemm_grouped(&grouped, NULL).message, "-7");
  grouped.groups = 1;
  grouped.multiprocessors = -5;
  expect("tenon_gemm_grouped", tenon_gemm_grouped(&grouped, NULL).message, "-5");

  tenon_scaled_gemm_problem scaled = tenon_scaled_gemm_problem_default();
  scaled.m = -2;
  expect("tenon_scaled_gemm", tenon_scaled_gemm(&scaled, NULL).message, "m is -2");

  tenon_sliced_gemm_problem sliced = tenon_sliced_gemm_problem_default();
  sliced.slices = 99;
  expect("tenon_sliced_gemm", tenon_sliced_gemm(&sliced, NULL).message, "99");

  tenon_quantize_problem quantize = tenon_quantize_problem_default();
  quantize.rows = -4;
  expect("tenon_quantize", tenon_quantize(&quantize, NULL).message, "-4");

  tenon_attention_problem attention = tenon_attention_problem_default();
  attention.batch = -1;
  expect("tenon_attention", tenon_attention(&attention, NULL).message, "batch is -1");
  tenon_attention_backward_problem backward = tenon_attention_backward_problem_default();
  expect("tenon_attention_backward", tenon_attention_backward(&backward, NULL).message,
         "problem->forward is a null pointer");
  backward.forward = &attention;
  expect("tenon_attention_backward", tenon_attention_backward(&backward, NULL).message, "batch is -1");
  return failures != 0;
}
