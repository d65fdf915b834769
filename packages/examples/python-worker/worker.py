"""A worker of a pool in plain Python, with nothing but the standard library.

    CAPSTAN_URL=http://127.0.0.1:7070 CAPSTAN_API_KEY=cap_... python3 worker.py

It serves app:python:word_count and app:python:slow. docs/reference/app-worker-protocol.md has the protocol.
"""

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
import uuid

POOL = os.environ.get("CAPSTAN_POOL", "python")
URL = os.environ.get("CAPSTAN_URL", "http://127.0.0.1:7070").rstrip("/")
KEY = os.environ["CAPSTAN_API_KEY"]
WORKER = "python-" + uuid.uuid4().hex  # of this process and no other
SLOTS = 4


def word_count(inputs, call):
    call.log("counting %d characters" % len(inputs["text"]))
    return {"words": len(inputs["text"].split())}


def slow(inputs, call):
    for _ in range(int(inputs["seconds"] * 20)):
        if call.stopped.wait(0.05):
            raise InterruptedError("told to stop")
    return {"slept": inputs["seconds"]}


TOOLS = {
    "word_count": {
        "run": word_count,
        "description": "Counts the words of a text",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "risk": "LOW",
        "side_effects": [],
        "effects": {"idempotent": True},
    },
    "slow": {
        "run": slow,
        "description": "Waits for some seconds",
        "input_schema": {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]},
        "risk": "LOW",
        "side_effects": [],
    },
}


def send(method, path, body, wait_s=0):
    """One request. Raises OSError when the gateway cannot be reached or answers with an error."""
    request = urllib.request.Request(
        "%s/v1/pools/%s/%s" % (URL, POOL, path),
        data=json.dumps(body).encode(),
        method=method,
        headers={"authorization": "Bearer " + KEY, "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30 + wait_s) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def insist(path, body):
    """Until it is taken: what is to be said exists only here. A request that can never pass is given up, anything else sent again."""
    while True:
        try:
            return send("POST", path, body)
        except urllib.error.HTTPError as error:
            if error.code in (400, 413, 422):
                raise
        except OSError:
            pass
        time.sleep(0.5)


class Call:
    """A call that this process has, from the claim until its result is taken."""

    def __init__(self, message):
        self.message = message
        self.id = message["invocation_id"]
        self.attempt = message["attempt"]
        self.stopped = threading.Event()
        self.lost = False

    def log(self, text):
        line = {"invocation_id": self.id, "attempt": self.attempt, "text": text + "\n"}
        insist("logs", {"worker_id": WORKER, "lines": [line]})

    def run(self):
        deadline = threading.Timer(self.message["timeout_ms"] / 1000, self.stopped.set)
        deadline.daemon = True
        deadline.start()
        lacking = {"invocation_id": self.id, "attempt": self.attempt}
        result = dict(lacking)
        try:
            tool = TOOLS[self.message["tool_id"].rsplit(":", 1)[1]]
            result.update(status="succeeded", payload=tool["run"](self.message["inputs"], self))
        except Exception as error:  # whatever a tool raises is its failure
            if self.stopped.is_set():
                result.update(status="stopped")
            else:
                result.update(status="failed", error=str(error) or type(error).__name__, retryable=False)
        finally:
            deadline.cancel()
        try:
            self.settle(result)
        except (OSError, TypeError, ValueError) as error:
            # It cannot be sent, because it is too large or not JSON. Without a result, the call would run into its deadline.
            self.settle({**lacking, "status": "failed", "error": "its result cannot be sent: %s" % error})
        finally:
            with lock:
                running.pop(self.id, None)
                free.notify_all()

    def settle(self, result):
        if not self.lost:
            insist("settle", {"worker_id": WORKER, "results": [result]})


lock = threading.Lock()
free = threading.Condition(lock)
running = {}
stopping = threading.Event()
lease = {"until": 0.0}


def beat_on():
    """Renews the lease, and hears once a second which calls to stop."""
    while not stopping.is_set() or running:
        asked = time.monotonic()
        try:
            with lock:
                names = list(running)
            state = "draining" if stopping.is_set() else "serving"
            heard = send("POST", "beat", {"worker_id": WORKER, "running": names, "state": state})
            lease["until"] = asked + heard["lease_ms"] / 1000
            for name in heard["cancel"] + heard["lost"]:
                call = running.get(name)
                if call:
                    call.lost = name in heard["lost"]
                    call.stopped.set()
        except OSError as error:
            print("beat: %s" % error, flush=True)
        time.sleep(0.5)


def claim_on():
    seq = 0
    wait_s = 5
    while not stopping.is_set():
        with lock:
            while len(running) >= SLOTS and not stopping.is_set():
                free.wait(1)
            names = list(running)
        asked = time.monotonic()
        body = {"worker_id": WORKER, "slots": SLOTS - len(names), "wait_s": wait_s, "running": names, "seq": seq}
        seq += 1
        try:
            answer = send("POST", "claim", body, wait_s)
        except OSError as error:
            print("claim: %s" % error, flush=True)
            wait_s = 0
            time.sleep(0.5)
            continue
        wait_s = 5
        lease["until"] = max(lease["until"], asked + answer["lease_ms"] / 1000)
        for message in answer["calls"]:
            # Once the lease may have ended, the call may be another worker's.
            if stopping.is_set() or time.monotonic() >= lease["until"]:
                break
            call = Call(message)
            with lock:
                running[call.id] = call
            threading.Thread(target=call.run).start()


def main():
    declared = [{"id": name, **{key: tool[key] for key in tool if key != "run"}} for name, tool in TOOLS.items()]
    send("PUT", "tools", {"version": "1", "tools": declared})
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    beating = threading.Thread(target=beat_on)
    beating.start()
    print("serves %s as %s" % (POOL, WORKER), flush=True)
    claim_on()
    beating.join()
    send("POST", "beat", {"worker_id": WORKER, "running": [], "state": "stopped"})


if __name__ == "__main__":
    main()
