#!/usr/bin/env python3
"""Holds exported ONNX models to our own answers, by onnxruntime.

    pip install onnx onnxruntime numpy
    cargo test -p tengen-network --lib -- --ignored onnx_models   # writes models and answers
    python3 scripts/onnx_check.py target/onnx-check

For each NAME.onnx the folder holds NAME.json: board by board the planes and what burn's forward pass
says. The largest difference of any number may be 1e-4 (of 20 points for the score).
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-4


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/onnx-check")
    models = sorted(folder.glob("*.onnx"))
    if not models:
        sys.exit(f"no model in {folder}")
    for path in models:
        onnx.checker.check_model(onnx.load(path), full_check=True)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        worst = 0.0
        cases = json.loads(path.with_suffix(".json").read_text())
        for case in cases:
            planes = np.array(case["planes"], np.float32).reshape(case["shape"])
            inputs = {"planes": planes}
            if case["globals"]:
                numbers = np.array(case["globals"], np.float32)
                inputs["globals"] = numbers.reshape(len(planes), -1)
            found = dict(zip(names, session.run(None, inputs)))
            if sorted(found) != sorted(case["outputs"]):
                sys.exit(f"{path.name}: outputs {sorted(found)}, expected {sorted(case['outputs'])}")
            for name, expected in case["outputs"].items():
                unit = 20.0 if name.startswith("score") else 1.0
                distance = np.abs(found[name].ravel() - np.array(expected, np.float32)).max() / unit
                worst = max(worst, float(distance))
        print(f"{path.name}: {len(names)} outputs, {len(cases)} boards, worst difference {worst:.2e}")
        if not worst <= TOLERANCE:
            sys.exit(f"{path.name} differs")


if __name__ == "__main__":
    main()
