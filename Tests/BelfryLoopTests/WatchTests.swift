import BelfryLoop
import BelfrySystem
import Glibc
import Testing

/// A connected pair of sockets, closed with it.
struct SocketPair: ~Copyable {
  let ours: Int32
  let theirs: Int32

  init() throws {
    var pair: [Int32] = [0, 0]
    try #require(
      unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair) == 0)
    (ours, theirs) = (pair[0], pair[1])
  }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(unsafe write(theirs, bytes, bytes.count) == bytes.count)
  }

  deinit {
    close(ours)
    close(theirs)
  }
}

private func readAll(_ descriptor: Int32) -> String {
  var bytes = [UInt8](repeating: 0, count: 4_096)
  let count = unsafe read(descriptor, &bytes, bytes.count)
  return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
}

@Suite struct WatchTests {
  @Test func aReadableSocketCallsItsHandler() async throws {
    let sockets = try SocketPair()
    let (ours, theirs) = (sockets.ours, sockets.theirs)
    try await withLoop { resident in
      let received = try await resident.run { resident in
        var received: [String] = []
        let gate = Gate()
        let watch = try resident.loop.watch(ours, for: .readable) { readiness in
          if readiness.contains(.readable) { received.append(readAll(ours)) }
          gate.open()
        }
        unsafe write(theirs, "bell", 4)
        await gate.wait()
        watch.cancel()
        return received
      }
      #expect(received == ["bell"])
    }
    sockets.send("nobody hears this")
  }

  @Test func handlersEnterTheirActor() async throws {
    let sockets = try SocketPair()
    let ours = sockets.ours
    sockets.send("ding")
    try await withLoop { resident in
      try await resident.run { resident in
        let gate = Gate()
        let watch = try resident.loop.watch(ours, for: .readable) { _ in
          resident.assumeIsolated { $0.note(readAll(ours)) }
          gate.open()
        }
        await gate.wait()
        watch.cancel()
      }
      #expect(await resident.log == ["ding"])
    }
  }

  @Test func interestCanChange() async throws {
    let sockets = try SocketPair()
    let ours = sockets.ours
    sockets.send("waits")
    try await withLoop { resident in
      let seen = try await resident.run { resident in
        var seen: [Readiness] = []
        let gate = Gate()
        var watch: Watch?
        watch = try resident.loop.watch(ours, for: .writable) { readiness in
          seen.append(readiness)
          if seen.count == 1 { try? watch?.update(.readable) } else { gate.open() }
        }
        await gate.wait()
        watch?.cancel()
        return seen.prefix(2)
      }
      #expect(seen == [.writable, .readable])
    }
  }

  @Test func aClosedPeerIsReportedThoughNothingWasAskedFor() async throws {
    var pair: [Int32] = [0, 0]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    let (ours, theirs) = (pair[0], pair[1])
    defer { close(ours) }
    try await withLoop { resident in
      let readiness = try await resident.run { resident in
        var seen: Readiness = []
        let gate = Gate()
        let watch = try resident.loop.watch(ours, for: []) { readiness in
          seen = readiness
          gate.open()
        }
        close(theirs)
        await gate.wait()
        watch.cancel()
        return seen
      }
      #expect(readiness.contains(.hangup))
    }
  }

  /// Both sockets are ready in the same batch; the first handler cancels the other watch.
  @Test func aCancelledWatchHearsNothingEvenOfEventsAlreadyTaken() async throws {
    let first = try SocketPair()
    let second = try SocketPair()
    first.send("a")
    second.send("b")
    let descriptors = [first.ours, second.ours]
    try await withLoop { resident in
      let calls = try await resident.run { resident in
        var calls = 0
        var watches: [Watch] = []
        for descriptor in descriptors {
          watches.append(
            try resident.loop.watch(descriptor, for: .readable) { _ in
              calls += 1
              for watch in watches { watch.cancel() }
            })
        }
        while calls == 0 { try await resident.loop.sleep(for: .milliseconds(1)) }
        // A second call would come in the same turn of the loop, or in the next.
        try await resident.loop.sleep(for: .milliseconds(5))
        return calls
      }
      #expect(calls == 1)
    }
  }

  @Test func watchingTwiceOrAClosedDescriptorIsRefused() async throws {
    let sockets = try SocketPair()
    let ours = sockets.ours
    try await withLoop { resident in
      let codes = try await resident.run { resident in
        let watch = try resident.loop.watch(ours, for: .readable) { _ in }
        defer { watch.cancel() }
        var codes: [SystemError.Code] = []
        for descriptor: Int32 in [ours, -1] {
          do throws(SystemError) {
            _ = try resident.loop.watch(descriptor, for: .readable) { _ in }
          } catch {
            codes.append(error.code)
          }
        }
        return codes
      }
      #expect(codes == [.unwatchable, .unwatchable])
    }
  }

  @Test func signalsArriveAsEvents() async throws {
    try await withLoop { resident in
      let received = try await resident.run { resident in
        var received: [ProcessSignal] = []
        let gate = Gate()
        let watch = try SignalWatch([.terminate], on: resident.loop) { signal in
          received.append(signal)
          gate.open()
        }
        // To this thread alone: it blocks all signals, as loops do, and the rest of the process lives on.
        pthread_kill(pthread_self(), SIGTERM)
        await gate.wait()
        watch.cancel()
        return received
      }
      #expect(received == [.terminate])
    }
  }
}
