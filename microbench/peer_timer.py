"""The protocol of measure.hpp for calls from Python, which time_attention.py and time_deep_gemm.py time."""

import statistics
import time


class Timer:
    def __init__(self, torch):
        self.torch = torch

    def milliseconds(self, launch, count):
        """Of `count` launches, launch(i) each."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for i in range(count):
            launch(i)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def prepared(self, calls, graph=True):
        """launch(i), how many calls it makes, and the milliseconds of each: a graph of them, for a call costs Python up
        to 0.2 ms. Autograd's calls cannot be captured."""
        for call in calls:
            call()
        self.torch.cuda.synchronize()
        count = 3 * len(calls) + 3
        each = self.milliseconds(lambda i: calls[i % len(calls)](), count) / count
        if not graph:
            return (lambda i: calls[i % len(calls)]()), 1, each
        rounds = max(1, round(3 / (each * len(calls))))
        captured = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(captured):
            for _ in range(rounds):
                for call in calls:
                    call()
        captured.replay()
        self.torch.cuda.synchronize()
        count = rounds * len(calls)
        return (lambda _: captured.replay()), count, self.milliseconds(lambda _: captured.replay(), 2) / (2 * count)

    def burst(self, prepared):
        launch, count, each = prepared
        launches = max(1, round(3 / (each * count)))
        times = []
        for _ in range(5):
            self.torch.cuda.synchronize()
            time.sleep(0.03)
            times.append(self.milliseconds(launch, launches) / (launches * count))
        return 1e3 * statistics.median(times)

    def sustained(self, prepared):
        launch, count, each = prepared
        launches = max(1, round(250 / (each * count)))
        self.torch.cuda.synchronize()
        time.sleep(0.3)
        for i in range(launches):
            launch(i)
        return 1e3 * self.milliseconds(launch, launches) / (launches * count)
