"""A form called below its architecture does not compile, and says so in one sentence, in every mode of nvcc.

  wrong_arch.py <nvcc> <target> <folder>

For sm_<target>, every form that needs a newer chip is called in one source; nvcc must fail in the modes -cubin, -ptx
and -rdc=true -c, and its messages must hold the sentence of every one of these functions.
"""
import pathlib
import subprocess
import sys

from catalogue import INCLUDE, load, pairs, source

MODES = (["-cubin"], ["-ptx"], ["-rdc=true", "-c"])


def main(nvcc, target, folder):
    catalogue = load()
    missing = [f for f in catalogue if not f.exists_on(target)]
    sentences = {f.form: wrapper.sentence for f, wrapper in pairs()}
    assert missing, f"every form of the catalogue exists on sm_{target}"
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"missing_on_sm_{target}.cu"
    path.write_text(source(missing, catalogue))
    failures = []
    for mode in MODES:
        result = subprocess.run([nvcc, "-std=c++17", *mode, f"-arch=sm_{target}", f"-I{INCLUDE}",
                                 "-Xcudafe", "--error_limit=10000", path, "-o", folder / "must_not_exist"],
                                text=True, capture_output=True)
        if result.returncode == 0:
            failures.append(f"{' '.join(mode)}: compiled for sm_{target}")
        for form in missing:
            if sentences[form.form] not in result.stderr:
                failures.append(f"{' '.join(mode)}: no such sentence: {sentences[form.form]}")
    if failures:
        sys.exit("\n".join(failures) + "\n\nlast messages of nvcc:\n" + result.stderr[-4000:])
    print(f"sm_{target}: {len(missing)} forms refused, each with its sentence, in {len(MODES)} modes")


if __name__ == "__main__":
    main(*sys.argv[1:])
