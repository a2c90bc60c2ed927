#!/usr/bin/env python3
"""Training steps per second beside PyTorch, in turns within one run.

    python3 scripts/pytorch_ratio.py [--tengen target/release/tengen] [--device cpu] [--rounds 5]

Needs PyTorch 2.9 (PyPI) and nothing else. Each round takes the same number of steps with PyTorch, in f32
and channels-last, and with `tengen bench train`: a residual tower of 4 blocks of 64 channels on 9x9 boards,
17 planes, both heads, batch 128, momentum and weight decay. A round's ratio is Tengen's samples/s over
PyTorch's. Prints every round and the medians as JSON on standard output.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

PLANES, POLICY, VALUE, HIDDEN = 17, 16, 16, 64


def conv(inputs, outputs, side):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = conv(channels, channels, 3), conv(channels, channels, 3)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + x)


def pooled(x):
    return torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)


class Net(nn.Module):
    """The network of `tengen_network::NetworkConfig`, with its heads that pool over the board."""

    def __init__(self, blocks, channels):
        super().__init__()
        self.stem = conv(PLANES, channels, 3)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(blocks)))
        self.policy, self.point = conv(channels, POLICY, 1), nn.Conv2d(POLICY, 1, 1)
        self.passing = nn.Linear(2 * POLICY, 1)
        self.value = conv(channels, VALUE, 1)
        self.hidden, self.out = nn.Linear(2 * VALUE, HIDDEN), nn.Linear(HIDDEN, 1)

    def forward(self, x):
        x = self.blocks(F.relu(self.stem(x)))
        p, v = F.relu(self.policy(x)), F.relu(self.value(x))
        logits = torch.cat([self.point(p).flatten(1), self.passing(pooled(p))], 1)
        return logits, torch.tanh(self.out(F.relu(self.hidden(pooled(v)))))[:, 0]


class Theirs:
    def __init__(self, args):
        torch.set_num_threads(args.threads)
        torch.manual_seed(1)
        self.args = args
        shape = (args.batch, PLANES, args.size, args.size)
        self.planes = (torch.rand(shape) < 0.2).float().contiguous(memory_format=torch.channels_last)
        self.policy = torch.softmax(torch.randn(args.batch, args.size**2 + 1), 1)
        self.result = torch.sign(torch.randn(args.batch))
        self.net = Net(args.blocks, args.channels).to(memory_format=torch.channels_last)
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4)

    def step(self):
        logits, value = self.net(self.planes)
        policy = -(self.policy * torch.log_softmax(logits, 1)).sum(1).mean()
        loss = policy + ((value - self.result) ** 2).mean()
        self.sgd.zero_grad()
        loss.backward()
        self.sgd.step()

    def samples_per_s(self):
        seconds = []
        for _ in range(self.args.steps + 1):
            start = time.perf_counter()
            self.step()
            seconds.append(time.perf_counter() - start)
        return self.args.batch / statistics.median(seconds[1:])


def ours(args):
    command = [args.tengen, "bench", "train", "--device", args.device, "--json"]
    for key in ("size", "blocks", "channels", "batch", "steps"):
        command += [f"--{key}", str(getattr(args, key))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)["median_samples_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tengen", default="target/release/tengen", help="our program")
    parser.add_argument("--device", default="cpu", help="ours: cpu or, in a build with it, libtorch:cpu")
    for key, value in dict(
        rounds=5, steps=10, threads=2, size=9, blocks=4, channels=64, batch=128
    ).items():
        parser.add_argument(f"--{key}", type=int, default=value)
    args = parser.parse_args()
    theirs, rounds = Theirs(args), []
    for index in range(args.rounds):
        row = {"pytorch": theirs.samples_per_s(), "tengen": ours(args)}
        rounds.append({**row, "ratio": row["tengen"] / row["pytorch"]})
        print(f"round {index + 1}: {rounds[-1]}", file=sys.stderr)
    medians = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
    print(json.dumps({**vars(args), **medians, "by_round": rounds}, indent=1))


if __name__ == "__main__":
    main()
