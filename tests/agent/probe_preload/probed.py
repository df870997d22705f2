"""The program that python_test.cc runs, with one mode per promise."""

import asyncio
import sys
import threading

import fieldcost_probe as probe


def nested():
    probe.point("of the process")
    with probe.event("outer") as outer:
        with probe.event("inner"):
            probe.point("in inner", value=7)
        probe.point("in outer")
        outer.end()
    probe.point_in(outer, "after its end")  # the process's again


def threads():
    def work(number):
        for index in range(20):
            with probe.event("job"):
                probe.point("first", value=number * 100 + index)
                probe.point("second", value=number * 100 + index)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def tasks():
    async def work(number):
        with probe.event("job"):
            for label in ("first", "second"):
                probe.point(label, value=number)
                await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*(work(number) for number in range(20)))
        probe.point("outside")

    asyncio.run(main())


def joins():
    with probe.event("request") as request:
        text = probe.traceparent()
        assert text is None or (len(text) == 55 and text == request.traceparent())
    with probe.join(text):
        probe.point("joined")
    with probe.join("nonsense"):
        probe.point("not joined")


def odd():
    for label in ("", "x" * 200, 17, None, "\u00e4\u00f6\u00fc", "\ud800"):
        probe.point(label)
    for value in (-1, 2**70, 1.5, "x", None, float("nan"), float("inf")):
        probe.point("value", value=value)
    probe.point_in(None, "in none")
    probe.point_in("x", "in text")


if __name__ == "__main__":
    {"nested": nested, "threads": threads, "tasks": tasks, "joins": joins, "odd": odd}[sys.argv[1]]()
    print("done", probe.enabled())
