"""The network that corrects the cost model (src/gemm/cost_correction.hpp): its training, by JAX, without a GPU."""

import collections

import jax
import jax.numpy as jnp
import numpy as np

HIDDEN = (96, 48)
MOST_CANDIDATES = 56  # of a problem, those of least modelled cost: nearly every choice is among them
UNCERTAINTY = 0.03  # in the logarithm of a cost: as ChoiceFit::uncertainty
BATCH = 64  # problems
LEARNING_RATE, WEIGHT_DECAY = 4e-3, 3e-3
NOISE = 0.2  # in the standard deviations of a feature: neighbouring products should have similar corrections

Candidates = collections.namedtuple("Candidates", "features times modelled copies weights exists")


def padded(problems, scale):
    """The first candidates of all problems as arrays, with candidates that do not exist at the end."""
    shape = len(problems), MOST_CANDIDATES
    mean, deviation = scale
    result = Candidates(
        np.zeros((*shape, len(mean)), np.float32), *(np.zeros(shape, np.float32) for _ in range(5))
    )
    for i, problem in enumerate(problems):
        count = min(len(problem.times), MOST_CANDIDATES)
        result.features[i, :count] = ((problem.features - mean) / deviation)[:count]
        result.times[i, :count] = problem.times[:count]
        result.modelled[i, :count] = problem.modelled[:count]
        result.copies[i, :count] = problem.copies[:count]
        # A kernel that is much slower than the fastest counts less.
        result.weights[i, :count] = np.exp(-3 * problem.times[:count])
        result.exists[i, :count] = 1
    return result


def new_network(key, inputs):
    network = []
    for outputs in (*HIDDEN, 1):
        key, part = jax.random.split(key)
        spread = np.sqrt((2 if network else 1) / inputs) * (0.1 if outputs == 1 else 1)
        network.append((jax.random.normal(part, (inputs, outputs)) * spread, jnp.zeros(outputs)))
        inputs = outputs
    return network


def corrections(network, features):
    """Logarithms of the factors."""
    for weights, biases in network[:-1]:
        features = jax.nn.relu(features @ weights + biases)
    weights, biases = network[-1]
    return (features @ weights + biases)[..., 0]


def loss(network, c):
    """The errors of the expected times of a problem's candidates to each other (Huber's loss), and how much
    longer than the fastest one the candidate takes that a choice unsure of its costs would make."""
    cost = c.modelled + jnp.log(jnp.exp(corrections(network, c.features)) + c.copies)
    errors = c.times - cost
    means = (errors * c.weights).sum(1, keepdims=True) / c.weights.sum(1, keepdims=True)
    errors = jnp.abs((errors - means) * c.exists)
    huber = jnp.where(errors < 0.1, 0.5 * errors * errors, 0.1 * (errors - 0.05))
    chances = jax.nn.softmax(jnp.where(c.exists > 0, -cost / UNCERTAINTY, -1e9), axis=1)
    regret = (chances * jnp.minimum(c.times, 1)).sum(1).mean()
    return 10 * (huber * c.weights).sum() / c.weights.sum() + regret


@jax.jit
def adam_step(network, moments, step, rate, batch, seed):
    noise = NOISE * jax.random.normal(jax.random.fold_in(jax.random.PRNGKey(seed), step), batch.features.shape)
    gradients = jax.grad(loss)(network, batch._replace(features=batch.features + noise))
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree.map(lambda m, g: 0.995 * m + 0.005 * g * g, moments[1], gradients)

    def moved(x, m, v):
        return x - rate * (m / (1 - 0.9**step) / (jnp.sqrt(v / (1 - 0.995**step)) + 1e-7) + WEIGHT_DECAY * x)

    return jax.tree.map(moved, network, first, second), (first, second)


def train(problems, steps, seed, say=lambda text: None):
    """Layers of weights and biases, for features as they are. say: told how far it is."""
    features = np.concatenate([problem.features for problem in problems]).astype(np.float64)
    scale = features.mean(0), features.std(0) + 1e-6
    data = padded(problems, scale)
    network = new_network(jax.random.PRNGKey(seed), data.features.shape[2])
    moments = (jax.tree.map(jnp.zeros_like, network),) * 2
    random = np.random.RandomState(seed)
    batch = min(BATCH, len(problems))
    order = np.zeros(0, int)
    for step in range(1, steps + 1):
        if len(order) < batch:
            order = random.permutation(len(problems))
        taken, order = order[:batch], order[batch:]
        rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / steps))
        network, moments = adam_step(network, moments, step, rate, Candidates(*(x[taken] for x in data)), seed)
        if step % 100 == 0:
            say(f"\rstep {step} of {steps}")
    say("\n")
    # In the mean the correction changes nothing, so that kernels without one compare as before.
    offset = float((corrections(network, data.features) * data.weights).sum() / data.weights.sum())
    weights, biases = network[-1]
    return on_features_as_they_are([*network[:-1], (weights, biases - offset)], scale)


def on_features_as_they_are(network, scale):
    """The network whose first layer scales the features."""
    mean, deviation = scale
    weights, biases = (np.asarray(x, np.float64) for x in network[0])
    weights = weights / deviation[:, None]
    return [(weights, biases - mean @ weights), *network[1:]]
