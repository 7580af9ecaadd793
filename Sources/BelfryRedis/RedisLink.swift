import BelfryLoop
import BelfrySystem

protocol RedisLinkOwner: AnyObject {
  func linkDidComeUp()
  func linkDidReceive(_ reply: RedisReply)
  /// - Parameter isComingUp: whether it may be up again in a moment.
  func linkDidGoDown(because error: RedisError, isComingUp: Bool)
}

/// Keeps one connection to Redis: makes it, sets it up, and makes it again whenever it breaks. Carries out
/// what `LinkStateMachine` decides.
///
/// Once started, the loop keeps it and its owner alive until `close()`.
final class RedisLink {
  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let limits: RedisLimits
  private let setUp: RedisSetUp?
  private let resolver: HostResolver?
  private var machine: LinkStateMachine

  var owner: (any RedisLinkOwner)?
  private var socket: RedisSocket?
  /// The deadline of connecting or setting up, or the end of the pause.
  private var timer: LoopTimer?
  private var connectsEver = 0
  private var lastHeardEarlier: ContinuousClock.Instant?

  init(loop: EventLoop, endpoint: RedisEndpoint, limits: RedisLimits, setUp: RedisSetUp?) {
    self.loop = loop
    self.endpoint = endpoint
    self.limits = limits
    self.setUp = setUp
    if case .tcp(let host, _) = endpoint.address, HostResolver.knownAddress(of: host) == nil {
      resolver = HostResolver(host: host, loop: loop)
    } else {
      resolver = nil
    }
    machine = LinkStateMachine(
      backoff: Backoff(limits.reconnectDelayMin, atMost: limits.reconnectDelayMax, jitter: .half))
  }

  /// When bytes last came from Redis; nil if never.
  var lastHeard: ContinuousClock.Instant? {
    socket?.lastHeard ?? lastHeardEarlier
  }

  func start() {
    carryOut(machine.start())
  }

  func close() {
    carryOut(machine.close())
  }

  /// The owner found the connection to be of no more use.
  func giveUp(_ error: RedisError) {
    carryOut(machine.lost(error, random: .random(in: 0..<1)))
  }

  func write(_ commands: [RedisCommand]) {
    socket?.write(commands)
  }

  /// Takes in everything that has come, without waiting: before judging that something did not come.
  func readAll() {
    socket?.readAll()
  }

  private func carryOut(_ action: LinkStateMachine.Action) {
    switch action {
    case .none: break
    case .deliver(let reply): owner?.linkDidReceive(reply)
    case .connect: connect()
    case .ask(let commands): ask(commands)
    case .comeUp:
      setTimer(after: nil) {}
      owner?.linkDidComeUp()
    case .goDown(let error, let delay):
      closeSocket()
      setTimer(after: delay) { self.carryOut(self.machine.pauseEnded()) }
      owner?.linkDidGoDown(because: error, isComingUp: machine.isComingUp)
    case .close:
      closeSocket()
      setTimer(after: nil) {}
      owner = nil
    }
  }

  private func connect() {
    setTimer(after: limits.connectTimeout) { self.timedOut("connecting took too long") }
    switch endpoint.address {
    case .unixSocket: open(endpoint.address)
    case .tcp(let host, let port):
      guard let resolver else {
        return open(.tcp(host: HostResolver.knownAddress(of: host) ?? host, port: port))
      }
      resolver.resolve { answer in
        do throws(RedisError) {
          self.open(.tcp(host: try self.choose(from: answer.mapError(RedisError.init).get()), port: port))
        } catch {
          self.giveUp(error)
        }
      }
    }
  }

  /// The next address at each try, so that one that is dead does not shadow the others.
  private func choose(from addresses: [String]) throws(RedisError) -> String {
    guard !addresses.isEmpty else {
      throw RedisError(.unavailable, cause: "the host has no address", place: endpoint.description)
    }
    connectsEver += 1
    return addresses[connectsEver % addresses.count]
  }

  private func open(_ address: RedisEndpoint.Address) {
    do {
      socket = try RedisSocket(to: address, on: loop, limits: limits, owner: self)
    } catch {
      giveUp(error)
    }
  }

  private func ask(_ commands: [RedisCommand]) {
    setTimer(after: limits.setUpTimeout) { self.timedOut("no reply during connection set-up") }
    write(commands)
  }

  private func timedOut(_ cause: String) {
    let expired = timer
    // If this process stood still for a while, the answer is here already, and has set another timer or none.
    readAll()
    guard timer === expired else { return }
    giveUp(RedisError(.timedOut, cause: cause, place: endpoint.description))
  }

  private func setTimer(after delay: Duration?, _ action: @escaping () -> Void) {
    timer?.cancel()
    timer = delay.map { loop.schedule(after: $0, action) }
  }

  private func closeSocket() {
    lastHeardEarlier = lastHeard
    socket?.close()
    socket = nil
    resolver?.forget()
  }
}

extension RedisLink: RedisSocketOwner {
  func socketDidOpen() {
    carryOut(machine.connected(setUp: .greeting(endpoint, then: setUp)))
  }

  func socketDidReceive(_ reply: RedisReply) {
    // What nearly all of them are, and a page of a feed takes hundreds.
    if machine.isUp {
      owner?.linkDidReceive(reply)
    } else {
      carryOut(machine.received(reply, random: .random(in: 0..<1)))
    }
  }

  func socketDidBreak(_ error: RedisError) {
    giveUp(error)
  }
}
