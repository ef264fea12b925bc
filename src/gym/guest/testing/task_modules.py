"""Modules in KernelBench's format: one for each kind of layer and each habit that KernelBench's references show."""

HEAD = "import math\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def module(forward, init="", arguments="", inputs="[torch.randn(4, 8)]", init_inputs="[]", parameters="x"):
    body = "".join(f"        {line}\n" for line in init.split("\n")) if init else ""
    steps = forward.split("\n")
    steps[-1] = steps[-1] if steps[-1].lstrip().startswith("return") else f"return {steps[-1]}"
    code = "".join(f"        {line}\n" for line in steps)
    return (f"{HEAD}\nclass Model(nn.Module):\n    def __init__(self{arguments}):\n        super().__init__()\n{body}"
            f"    def forward(self, {parameters}):\n{code}\ndef get_inputs():\n    return {inputs}\n\n"
            f"def get_init_inputs():\n    return {init_inputs}\n")


IMAGE = "[torch.randn(2, 4, 8, 8)]"
VOLUME = "[torch.randn(2, 4, 4, 6, 6)]"
SEQUENCE = "[torch.randn(2, 5, 8)]"

MODULES = {
    "a stack of encoder layers": module("self.t(x)", "self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.0), num_layers=2)", inputs=SEQUENCE),
    "relu": module("torch.relu(x)"),
    "square matmul": module("torch.matmul(a, b)", parameters="a, b", inputs="[torch.rand(8, 8), torch.rand(8, 8)]"),
    "batched matmul": module("torch.bmm(a, b)", parameters="a, b", inputs="[torch.rand(3, 4, 5), torch.rand(3, 5, 6)]"),
    "matvec": module("torch.matmul(a, b)", parameters="a, b", inputs="[torch.rand(8, 8), torch.rand(8, 1)]"),
    "scalar": module("x * s", parameters="x, s", inputs="[torch.rand(8, 8), 3.14]"),
    "4d einsum": module("torch.einsum('bijl,lk->bijk', a, b)", parameters="a, b",
                        inputs="[torch.rand(2, 3, 4, 5), torch.rand(5, 6)]"),
    "diag": module("torch.diag(a) @ b", parameters="a, b", inputs="[torch.rand(5), torch.rand(5, 4)]"),
    "tril": module("torch.tril(torch.matmul(a, b))", parameters="a, b", inputs="[torch.rand(5, 5), torch.rand(5, 5)]"),
    "transposed": module("torch.matmul(a.T, b.T)", parameters="a, b", inputs="[torch.rand(5, 4), torch.rand(6, 5)]"),
    "activations": module("y = F.leaky_relu(x, 0.1) + torch.sigmoid(x) + torch.tanh(x) + F.softplus(x) + F.softsign(x)\n"
                          "F.elu(y, alpha=1.0) + F.selu(y) + F.hardtanh(y, -1.0, 1.0) + F.hardsigmoid(y) + F.gelu(y) + x * torch.sigmoid(x)"),
    "new gelu": module("0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))"),
    "softmaxes": module("F.softmax(x, dim=1) + F.log_softmax(x, dim=1)"),
    "batch norm": module("self.bn(x)", "self.bn = nn.BatchNorm2d(4)", inputs=IMAGE),
    "instance norm": module("self.n(x)", "self.n = nn.InstanceNorm2d(4)", inputs=IMAGE),
    "instance norm with statistics": module("self.n(x)", "self.n = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)", inputs=IMAGE),
    "group norm": module("self.n(x)", "self.n = nn.GroupNorm(2, 4)", inputs=IMAGE),
    "rms norm by hand": module("x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)", inputs=IMAGE),
    "rms norm": module("self.n(x)", "self.n = nn.RMSNorm(8)"),
    "frobenius": module("x / torch.norm(x, p='fro')"),
    "l1": module("x / torch.sum(torch.abs(x), dim=1, keepdim=True)"),
    "l2": module("x / torch.norm(x, p=2, dim=1, keepdim=True)"),
    "layer norm": module("self.n(x)", "self.n = nn.LayerNorm((4, 8, 8))", inputs=IMAGE),
    "pools": module("F.max_pool2d(x, 2) + self.a(x) + F.adaptive_avg_pool2d(x, 4)", "self.a = nn.AvgPool2d(3, 2, 1)", inputs=IMAGE),
    "pools 1d": module("self.m(x), self.a(x)", "self.m = nn.MaxPool1d(3, 2, 1, dilation=2)\nself.a = nn.AvgPool1d(2)", inputs="[torch.randn(2, 4, 16)]"),
    "pools 3d": module("self.m(x), self.a(x)", "self.m = nn.MaxPool3d(2)\nself.a = nn.AvgPool3d(2)", inputs=VOLUME),
    "reductions": module("x.sum(1), x.mean(1), x.max(1)[0], torch.min(x, dim=1)[0], x.prod(1), torch.argmax(x, dim=1), torch.argmin(x, dim=1), x.std(1), x.var(0), x.logsumexp(1)"),
    "scans": module("torch.cumsum(x, dim=1), torch.cumprod(x, dim=1), torch.cumsum(x.flip(1), dim=1).flip(1), torch.cumsum(x * (x > 0), 1), torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), dim=1)[:, :-1].cumsum(1)"),
    "conv 1d": module("self.c(x)", "self.c = nn.Conv1d(4, 6, 3, stride=2, dilation=2)", inputs="[torch.randn(2, 4, 16)]"),
    "conv 2d": module("self.c(x)", "self.c = nn.Conv2d(4, 6, (3, 5), stride=1, padding=1, bias=False)", inputs=IMAGE),
    "conv 3d": module("self.c(x)", "self.c = nn.Conv3d(4, 6, 3)", inputs=VOLUME),
    "depthwise separable": module("self.p(self.d(x))", "self.d = nn.Conv2d(4, 4, 3, padding=1, groups=4)\nself.p = nn.Conv2d(4, 8, 1)", inputs=IMAGE),
    "transposed convs": module("self.c(x)", "self.c = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)", inputs=IMAGE),
    "transposed conv 1d": module("self.c(x)", "self.c = nn.ConvTranspose1d(4, 6, 3, dilation=2)", inputs="[torch.randn(2, 4, 16)]"),
    "transposed conv 3d": module("self.c(x)", "self.c = nn.ConvTranspose3d(4, 6, 3)", inputs=VOLUME),
    "losses": module("F.mse_loss(a, b), F.smooth_l1_loss(a, b), F.kl_div(torch.log(a), b, reduction='batchmean'), torch.mean(torch.clamp(1 - a * b, min=0))",
                     parameters="a, b", inputs="[torch.rand(4, 8).softmax(-1), torch.rand(4, 8).softmax(-1)]"),
    "cross entropy": module("F.cross_entropy(x, t)", parameters="x, t", inputs="[torch.randn(4, 8), torch.randint(0, 8, (4,))]"),
    "triplet": module("self.l(a, b, c)", "self.l = torch.nn.TripletMarginLoss(margin=1.0)", parameters="a, b, c",
                      inputs="[torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 8)]"),
    "cosine": module("torch.mean(1 - torch.nn.functional.cosine_similarity(a, b, dim=1))", parameters="a, b",
                     inputs="[torch.randn(4, 8), torch.randn(4, 8)]"),
    "attention": module("F.scaled_dot_product_attention(q, k, v)", parameters="q, k, v",
                        inputs="[torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4)]"),
    "constructor arguments": module("self.l(x) + self.b * self.s", "self.l = nn.Linear(n, m)\nself.b = nn.Parameter(torch.randn(m))\nself.s = s",
                                    ", n, m, s=2.0", init_inputs="[8, 3]"),
    "keyword constructor": module("self.l(x)", "self.l = nn.Linear(n, m)", ", n, m", init_inputs="[[8], {'m': 3}]"),
    "fused epilogue": module("x = self.g(x)\nx = x + self.b\nx = F.hardswish(x)\nx = torch.clamp(x, 0, 1)\nx = x / 2\nx",
                             "self.g = nn.Linear(8, 8)\nself.b = nn.Parameter(torch.randn(8))"),
    "weight norm": module("self.l(x)", "self.l = nn.utils.weight_norm(nn.Linear(8, 8))"),
    "conv bn relu": module("F.relu(self.bn(self.c(x)))", "self.c = nn.Conv2d(4, 4, 3)\nself.bn = nn.BatchNorm2d(4)", inputs=IMAGE),
    "dropout": module("self.d(self.l(x))", "self.l = nn.Linear(8, 8)\nself.d = nn.Dropout(0.3)"),
    "sequential": module("self.s(x)", "layers = []\nfor i in range(3):\n    layers += [nn.Linear(8, 8), nn.ReLU()]\nself.s = nn.Sequential(*layers)"),
    "lstm": module("out, (h, c) = self.r(x, (self.h.to(x.device), torch.zeros(2, x.size(0), 6, device=x.device)))\nself.f(out[:, -1, :])",
                   "self.r = nn.LSTM(8, 6, 2, batch_first=True, dropout=0.0)\nself.f = nn.Linear(6, 3)\nself.h = torch.randn(2, 2, 6)", inputs=SEQUENCE),
    "bidirectional lstm": module("self.r(x)[0]", "self.r = nn.LSTM(8, 6, 2, bidirectional=True)", inputs=SEQUENCE),
    "gru": module("self.r(x, h)", "self.r = nn.GRU(8, 6, 2)", parameters="x, h", inputs="[torch.randn(5, 2, 8), torch.randn(2, 2, 6)]"),
    "vanilla rnn": module("h = self.h.to(x.device)\nh = torch.tanh(self.i(torch.cat((x, h), dim=1)))\nself.o(h)",
                          "self.h = torch.randn(4, 6)\nself.i = nn.Linear(14, 6)\nself.o = nn.Linear(6, 3)"),
    "rnn module": module("self.r(x)[0]", "self.r = nn.RNN(8, 6, nonlinearity='relu')", inputs=SEQUENCE),
    "lstm cell": module("self.r(x)", "self.r = nn.LSTMCell(8, 6)"),
    "gru cell": module("self.r(x)", "self.r = nn.GRUCell(8, 6)"),
    "multi-head attention": module("self.a(x, x, x)[0]", "self.a = nn.MultiheadAttention(8, 2, batch_first=True)", inputs=SEQUENCE),
    "transformer layer": module("self.t(x)", "self.t = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0)", inputs=SEQUENCE),
    "causal attention": module(
        "B, T, C = x.size()\nq, k, v = self.a(x).split(8, dim=2)\n"
        "k, q, v = [t.view(B, T, 2, 4).transpose(1, 2) for t in (k, q, v)]\n"
        "att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))\n"
        "att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float('-inf'))\natt = F.softmax(att, dim=-1)\n"
        "self.p((att @ v).transpose(1, 2).contiguous().view(B, T, C))",
        "self.a = nn.Linear(8, 24)\nself.p = nn.Linear(8, 8)\nself.register_buffer('bias', torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))",
        inputs=SEQUENCE),
    "embedding": module("self.e(t).mean(1)", "self.e = nn.Embedding(10, 8)", parameters="t", inputs="[torch.randint(0, 10, (2, 5))]"),
    "item of a constant": module("for d in self.rates:\n    x = x * (1 - d)\nx", "self.rates = [r.item() for r in torch.linspace(0, 0.1, 4)]"),
    "positional encoding": module(
        "x + self.pe[:, :x.size(1)]",
        "position = torch.arange(16).unsqueeze(1)\ndiv = torch.exp(torch.arange(0, 8, 2) * (-math.log(10000.0) / 8))\n"
        "pe = torch.zeros(1, 16, 8)\npe[0, :, 0::2] = torch.sin(position * div)\npe[0, :, 1::2] = torch.cos(position * div)\n"
        "self.register_buffer('pe', pe)", inputs=SEQUENCE),
    "constant tensors": module("x * self.w + torch.tensor([1.0] * 8, device=x.device) + self.n",
                               "self.register_buffer('w', torch.tensor([1.0, 2, 3, 4, 5, 6, 7, 8]))\n"
                               "self.register_buffer('n', torch.from_numpy(np.arange(8, dtype=np.float32)))"),
    "data of parameters": module("self.l(x)", "self.l = nn.Linear(8, 8)\nself.l.weight.data = torch.eye(8)\nself.l.bias.data.zero_()\n"
                                 "nn.init.xavier_uniform_(self.l.weight)\nself.l.weight.data.mul_(2.0)"),
    "tied weights": module("self.b(self.a(x))", "self.a = nn.Linear(8, 8)\nself.b = nn.Linear(8, 8)\nself.b.weight = self.a.weight"),
    "initialisers": module("x @ self.w @ self.v", "self.w = nn.Parameter(torch.empty(8, 8))\nnn.init.trunc_normal_(self.w, std=0.02)\n"
                           "self.v = nn.Parameter(nn.init.kaiming_normal_(torch.empty(8, 8)))\nnn.init.orthogonal_(self.v)"),
    "in place": module("y = x.clone()\ny += 1\ny[:, 1] = 0\ny[:, 2:4].mul_(3)\ny.t_()\ny.unsqueeze_(0)\ny"),
    "argument changed": module("x.add_(1)\nx * 2"),
    "views": module("a, b = x.chunk(2, dim=1)\nx.view(2, 2, 8).permute(2, 0, 1).reshape(8, 4), a + b, x[..., None, ::2], x.unfold(1, 4, 2), x.expand(3, 4, 8)"),
    "dict output": module("{'sum': x.sum(), 'parts': (x[0], [x[1], 3, None]), 'name': 'y'}"),
    "list input": module("sum(xs) + d['b']", parameters="xs, d", inputs="[[torch.randn(4), torch.randn(4)], {'b': torch.ones(4)}]"),
    "half": module("self.l(x)", "self.l = nn.Linear(8, 8).half()", inputs="[torch.randn(4, 8).half()]"),
    "bfloat16": module("self.l(x.to(torch.bfloat16)).float()", "self.l = nn.Linear(8, 8, dtype=torch.bfloat16)"),
    "bool and int": module("torch.where(m, x, -x), (i // 2) % 3, m.sum(), ~m & (i > 2)", parameters="x, m, i",
                           inputs="[torch.randn(4, 8), torch.rand(4, 8) > 0.5, torch.randint(0, 9, (4, 8))]"),
    "double": module("x.double() ** 2"),
    "complex": module("torch.fft.ifft(torch.fft.fft(x)).real"),
    "sort and topk": module("x.sort(dim=1)[0], x.topk(3, dim=1)[1], x.gather(1, x.argsort(1))"),
    "scatter": module("torch.zeros(4, 8, device=x.device).scatter_(1, i, x), x.index_select(1, i[0])", parameters="x, i",
                      inputs="[torch.randn(4, 8), torch.stack([torch.randperm(8) for _ in range(4)])]"),
    "pads and interpolates": module("F.pad(x, (1, 1, 2, 2)), F.interpolate(x, scale_factor=2), F.interpolate(x, size=(5, 5), mode='bilinear'), F.pixel_shuffle(x, 2), torch.roll(x, 1, 2)", inputs=IMAGE),
    "custom autograd function": module("Square.apply(x)") .replace("class Model", "class Square(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n\nclass Model"),
    "gradient": module("with torch.enable_grad():\n    x = x.detach().requires_grad_()\n    y = ((self.l(x).sigmoid() * x[:, :1]).pow(2) + self.b).sum()\n"
                       "torch.autograd.grad(y, (x, self.b, self.l.weight))",
                       "self.l = nn.Linear(8, 8)\nself.b = nn.Parameter(torch.randn(8))"),
    "gradient of the own backward": module("with torch.enable_grad():\n    x = x.detach().requires_grad_()\n"
        "    y = Scaled.apply(x, 3.0, self.w, None)\ntorch.autograd.grad(y, (self.w, x), y.detach())", "self.w = nn.Parameter(torch.randn(8))").replace(
        "class Model", "class Scaled(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, s, w, none):\n"
        "        ctx.s = s\n        ctx.save_for_backward(x, w)\n        return x * s * w\n    @staticmethod\n    def backward(ctx, g):\n"
        "        x, w = ctx.saved_tensors\n        return g * ctx.s * w, None, (g * ctx.s * x).sum(0), None\n\nclass Model"),
    "gradient twice": module("with torch.enable_grad():\n    x = x.detach().requires_grad_()\n    y = (x ** 3).sum()\n"
                             "    g, = torch.autograd.grad(y, x, create_graph=True)\n    h, = torch.autograd.grad((g * g).sum(), x)\nh, g.detach()"),
    "backward": module("with torch.enable_grad():\n    x = x.detach().requires_grad_()\n    a, b = x.chunk(2, dim=1)\n"
                       "    (a.exp() * b + a.tanh()).mean().backward()\nx.grad"),
    "gradient of what lies between": module("with torch.enable_grad():\n    x = x.detach().requires_grad_()\n    y = x * 2\n    z = y.relu().mean(0)\n"
                                            "torch.autograd.grad(z, y, torch.ones_like(z))[0]"),
    "compiled": module("self.f(x)", "self.f = torch.compile(lambda x: x * 2)"),
    "scripted": module("double(x)").replace("class Model", "@torch.jit.script\ndef double(x: torch.Tensor):\n    return x * 2\n\nclass Model"),
    "seeds": module("x + torch.rand_like(x)", "torch.manual_seed(3)\ntorch.cuda.manual_seed_all(3)\nself.g = torch.Generator(device='cuda')"),
    "asks the device": module(
        "assert x.is_cuda and x.device.type == 'cuda' and x.get_device() == 0\nassert torch.cuda.is_available() and torch.cuda.device_count() == 1\n"
        "p = torch.cuda.get_device_properties(x.device)\nassert p.major == 9 and torch.cuda.get_device_capability() == (9, 0)\n"
        "s = torch.cuda.Stream()\nwith torch.cuda.device(x.device), torch.cuda.stream(s):\n    y = x * p.multi_processor_count\n"
        "torch.cuda.current_stream().wait_stream(s)\ne = torch.cuda.Event(enable_timing=True)\ne.record()\ntorch.cuda.synchronize()\ny.cuda().to('cuda')"),
    "mamba segsum": module(
        "T = x.size(-1)\nc = torch.cumsum(x, dim=-1)\ns = c[..., :, None] - c[..., None, :]\n"
        "m = torch.tril(torch.ones(T, T, device=x.device, dtype=bool), diagonal=0)\ns.masked_fill(~m, -torch.inf)"),
    "vlad": module("a = F.softmax(torch.matmul(x.view(-1, 8), self.c), dim=1).view(-1, 5, 3)\ns = a.sum(dim=1, keepdim=True) * self.d\n"
                   "v = torch.matmul(a.transpose(1, 2), x).transpose(1, 2) - s\nF.normalize(F.normalize(v).reshape(-1, 24))",
                   "self.c = nn.Parameter((1 / math.sqrt(8)) * torch.randn(8, 3))\nself.d = nn.Parameter(torch.randn(1, 8, 3))", inputs=SEQUENCE),
    "squeeze and excite": module("x * self.e(x.mean((2, 3))).view(-1, 4, 1, 1)",
                                 "self.e = nn.Sequential(nn.Linear(4, 2, bias=False), nn.ReLU(inplace=True), nn.Linear(2, 4, bias=False), nn.Sigmoid())", inputs=IMAGE),
    "custom operator": module("twice(x)").replace("class Model", "@torch.library.custom_op('mine::twice', mutates_args=())\ndef twice(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n\nclass Model"),
    "tensor for the constructor": module("x * self.w", "self.w = nn.Parameter(w)", ", w", init_inputs="[torch.randn(8)]"),
    "generators": module("x + torch.rand(4, 8, device=x.device, generator=self.g)", "self.g = torch.Generator('cuda').manual_seed(1)"),
    "attention under autocast": module("with torch.autocast('cuda', dtype=torch.bfloat16):\n    y = F.scaled_dot_product_attention(x, x, x)\ny", inputs="[torch.randn(2, 3, 5, 4)]"),
    "autocast": module("with torch.autocast('cuda', dtype=torch.bfloat16):\n    y = self.l(x)\ny", "self.l = nn.Linear(8, 8)"),
}
