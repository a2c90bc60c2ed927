#!/usr/bin/env python3
"""Writes what PyTorch makes of our networks and losses, as fixtures that the tests are held to.

    pip install torch safetensors            # any PyTorch of version 2
    python3 scripts/pytorch_reference.py     # writes crates/*/tests/data/torch-*.safetensors

The network is written here as a PyTorch user would write it, from docs/networks.md alone. Each file
holds the module's `state_dict` before the step under `state.`, the inputs under `input.`, the outputs in
training mode under `output.` and in evaluation mode under `answer.`, the gradients of the loss that
`loss_of` describes under `grad.`, and the running statistics after the step under `after.`. The one for
the losses holds logits, labels, terms and gradients. Everything is drawn from one seed.
"""

import math
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pool(x, sized):
    """[B, C, H, W] to means, means by size if asked, maxima."""
    mean, top = x.mean((2, 3)), x.amax((2, 3))
    side = math.sqrt(x.shape[2] * x.shape[3])
    return torch.cat([mean, mean * (side - 14) / 10, top] if sized else [mean, top], 1)


def conv(inputs, outputs, side):
    return nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=False)


class Block(nn.Module):
    def __init__(self, channels, pooled):
        super().__init__()
        self.conv1, self.bn1 = conv(channels, channels, 3), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = conv(channels, channels, 3), nn.BatchNorm2d(channels)
        self.pooled = pooled
        if pooled:
            self.pool = nn.Linear(3 * pooled, channels - pooled)

    def forward(self, x):
        y = self.bn1(self.conv1(x))
        if self.pooled:
            first, rest = y[:, : self.pooled].relu(), y[:, self.pooled :]
            rest = (rest + self.pool(pool(first, True))[:, :, None, None]).relu()
            y = torch.cat([first, rest], 1)
        return (self.bn2(self.conv2(y.relu())) + x).relu()


class Stem(nn.Module):
    def __init__(self, planes, numbers, channels):
        super().__init__()
        self.conv, self.bn = conv(planes, channels, 3), nn.BatchNorm2d(channels)
        if numbers:
            self.globals = nn.Linear(numbers, channels)

    def forward(self, x, numbers):
        y = self.bn(self.conv(x))
        if numbers is not None:
            y = y + self.globals(numbers)[:, :, None, None]
        return y.relu()


class Policy(nn.Module):
    def __init__(self, channels, own, everything):
        super().__init__()
        self.conv, self.bn = conv(channels, own, 1), nn.BatchNorm2d(own)
        self.everything = everything
        names = [("out", "pass")]
        if everything:
            self.pool = nn.Linear(3 * own, own)
            names += [("opponent", "opponent_pass"), ("soft", "soft_pass")]
        for points, passing in names:
            setattr(self, points, nn.Conv2d(own, 1, 1))
            setattr(self, passing, nn.Linear(2 * own, 1))

    def forward(self, x):
        p = self.bn(self.conv(x)).relu()
        if self.everything:
            p = (p + self.pool(pool(p, True))[:, :, None, None]).relu()
        pooled = pool(p, False)

        def actions(points, passing):
            points, passing = getattr(self, points), getattr(self, passing)
            return torch.cat([points(p).flatten(1), passing(pooled)], 1)

        found = {"policy": actions("out", "pass")}
        if self.everything:
            found["opponent"] = actions("opponent", "opponent_pass")
            found["soft"] = actions("soft", "soft_pass")
        return found


class Value(nn.Module):
    def __init__(self, channels, own, hidden, everything):
        super().__init__()
        self.conv, self.bn = conv(channels, own, 1), nn.BatchNorm2d(own)
        self.hidden, self.out = nn.Linear(2 * own, hidden), nn.Linear(hidden, 1)
        self.everything = everything
        if everything:
            self.ownership = nn.Conv2d(own, 1, 1)
            self.score = nn.Linear(hidden, 2)
            self.short_term = nn.Linear(hidden, 3)

    def forward(self, x):
        v = self.bn(self.conv(x)).relu()
        hidden = self.hidden(pool(v, False)).relu()
        found = {"value": self.out(hidden).tanh().squeeze(1)}
        if self.everything:
            score = self.score(hidden)
            found["ownership"] = self.ownership(v).flatten(1)
            found["score_mean"] = 20 * score[:, 0]
            found["score_stdev"] = 20 * F.softplus(score[:, 1])
            found["short_term"] = self.short_term(hidden).tanh()
        return found


class Net(nn.Module):
    def __init__(self, blocks, channels, own, hidden, pooled, everything):
        super().__init__()
        self.inputs = (60, 15) if everything else (17, 0)
        self.stem = Stem(*self.inputs, channels)
        self.blocks = nn.ModuleList(
            Block(channels, pooled if i % 2 == 1 else 0) for i in range(blocks)
        )
        self.policy = Policy(channels, own, everything)
        self.value = Value(channels, own, hidden, everything)

    def forward(self, planes, numbers):
        x = self.stem(planes, numbers)
        for block in self.blocks:
            x = block(x)
        return self.policy(x) | self.value(x)


def loss_of(outputs):
    """Each output by its own ramp of sines, in points of twenty for the score."""
    total = 0.0
    for name in sorted(outputs):
        x = outputs[name] / 20 if name.startswith("score") else outputs[name]
        ramp = torch.sin(0.37 * torch.arange(x.numel(), dtype=torch.float32)).view_as(x)
        total = total + (x * ramp).sum()
    return total


def network(name, **shape):
    net = Net(**shape)
    with torch.no_grad():
        for key, parameter in net.named_parameters():
            if ".bn" in key:
                base = 1.0 if key.endswith("weight") else 0.0
                parameter.copy_(base + 0.5 * torch.rand_like(parameter) - 0.25)
    count, numbers = net.inputs
    planes = (torch.rand(5, count, 4, 3) < 0.3).float()
    given = 2 * torch.rand(5, numbers) - 1 if numbers else None
    tensors = {f"state.{k}": v.clone() for k, v in net.state_dict().items()}
    tensors["input.planes"] = planes
    if given is not None:
        tensors["input.globals"] = given
    net.eval()
    tensors |= {f"answer.{k}": v.detach().clone() for k, v in net(planes, given).items()}
    net.train()
    outputs = net(planes, given)
    loss_of(outputs).backward()
    tensors |= {f"output.{k}": v.detach().clone() for k, v in outputs.items()}
    tensors |= {f"grad.{k}": v.grad.clone() for k, v in net.named_parameters()}
    tensors |= {f"after.{k}": v.clone() for k, v in net.state_dict().items() if "running" in k}
    # PyTorch keeps the unbiased variance, we the batch's own: written as ours would be.
    for key, value in list(tensors.items()):
        if key.startswith("after.") and key.endswith("running_var"):
            before = tensors["state." + key[len("after.") :]]
            count = 5 * 4 * 3
            tensors[key] = before * 0.9 + (value - before * 0.9) * (count - 1) / count
    save(ROOT / f"crates/network/tests/data/torch-{name}.safetensors", tensors)


def huber(x, delta):
    return torch.where(x.abs() > delta, delta * (x.abs() - delta / 2), x * x / 2)


def losses():
    batch, area = 4, 6
    actions = area + 1
    legal = (torch.rand(batch, actions) < 0.7).float()
    legal[:, -1] = 1
    policy = torch.rand(batch, actions) * legal
    policy /= policy.sum(1, keepdim=True)
    opponent = torch.rand(batch, actions)
    opponent /= opponent.sum(1, keepdim=True)
    labels = {
        "legal": legal,
        "policy": policy,
        "value": torch.tensor([1.0, -1.0, 0.0, 1.0]),
        "weight": torch.tensor([1.0, 0.5, 2.0, 1.0]),
        "ownership": torch.randint(-1, 2, (batch, area)).float(),
        "score": torch.tensor([3.5, -40.0, 0.5, 12.0]),
        "has_score": torch.tensor([1.0, 1.0, 0.0, 1.0]),
        "opponent_policy": opponent,
        "has_opponent_policy": torch.tensor([1.0, 0.0, 1.0, 1.0]),
        "short_term": 2 * torch.rand(batch, 3) - 1,
        "has_short_term": torch.tensor([0.0, 1.0, 1.0, 1.0]),
    }
    outputs = {
        "policy_logits": 3 * torch.randn(batch, actions),
        "value": torch.tanh(torch.randn(batch)),
        "opponent_logits": torch.randn(batch, actions),
        "soft_logits": torch.randn(batch, actions),
        "ownership_logits": torch.randn(batch, area),
        "score_mean": 20 * torch.randn(batch),
        "score_stdev": 5 + 10 * torch.rand(batch),
        "short_term_values": torch.tanh(torch.randn(batch, 3)),
    }
    for x in outputs.values():
        x.requires_grad_(True)
    weight = labels["weight"]
    masked = lambda x: x.masked_fill(legal == 0, -1e30)
    entropy = lambda x, target: -(target * F.log_softmax(x, 1)).sum(1)
    soft = legal * (policy + 1e-7) ** 0.25
    soft = soft / soft.sum(1, keepdim=True)
    error = (outputs["score_mean"].detach() - labels["score"]) ** 2 + 1e-4
    rows = {
        "policy": entropy(masked(outputs["policy_logits"]), policy),
        "value": (outputs["value"] - labels["value"]) ** 2,
        "ownership": F.binary_cross_entropy_with_logits(
            2 * outputs["ownership_logits"], (1 + labels["ownership"]) / 2, reduction="none"
        ).mean(1),
        "score": huber(outputs["score_mean"] - labels["score"], 12.0),
        "score_spread": huber(outputs["score_stdev"] ** 2 - error, 100.0),
        "opponent_policy": entropy(outputs["opponent_logits"], labels["opponent_policy"]),
        "soft_policy": entropy(masked(outputs["soft_logits"]), soft),
        "short_term": ((outputs["short_term_values"] - labels["short_term"]) ** 2).sum(1),
    }
    has = {
        "ownership": "has_score",
        "score": "has_score",
        "score_spread": "has_score",
        "opponent_policy": "has_opponent_policy",
        "short_term": "has_short_term",
    }
    shares = {
        "policy": 1.0, "value": 1.0, "ownership": 1.5, "score": 0.0015, "score_spread": 2e-5,
        "opponent_policy": 0.15, "soft_policy": 8.0, "short_term": 0.5,
    }  # fmt: skip
    total, terms = 0.0, {}
    for name, row in rows.items():
        own = weight * labels[has[name]] if name in has else weight
        terms[name] = (own * row).sum() / own.sum()
        total = total + shares[name] * (own * row).sum() / weight.sum()
    total.backward()
    tensors = {f"label.{k}": v for k, v in labels.items()}
    tensors |= {f"output.{k}": v.detach().clone() for k, v in outputs.items()}
    tensors |= {f"grad.{k}": v.grad.clone() for k, v in outputs.items()}
    tensors |= {f"term.{k}": v.detach().view(1) for k, v in terms.items()}
    tensors["total"] = total.detach().view(1)
    save(ROOT / "crates/trainer/tests/data/torch-losses.safetensors", tensors)


def save(path, tensors):
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({k: v.contiguous() for k, v in tensors.items()}, path)
    print(f"{path.relative_to(ROOT)}: {len(tensors)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    torch.manual_seed(2017)
    torch.use_deterministic_algorithms(True)
    network("plain", blocks=2, channels=6, own=3, hidden=5, pooled=0, everything=False)
    network("pooling", blocks=2, channels=7, own=3, hidden=5, pooled=3, everything=False)
    network("everything", blocks=2, channels=6, own=3, hidden=5, pooled=2, everything=True)
    losses()
