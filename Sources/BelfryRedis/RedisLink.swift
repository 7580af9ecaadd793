import BelfryLoop
import BelfrySystem
import BelfryTransport

protocol RedisLinkOwner: AnyObject {
  func linkDidComeUp()
  /// The parser has read one more reply. It keeps the reply until the owner takes it, alone or with those that follow.
  func linkDidReceiveReply(in parser: ReplyParser)
  /// - Parameter isComingUp: true if the link may be up again in a moment.
  func linkDidGoDown(because error: RedisError, isComingUp: Bool)
}

/// Keeps one connection to Redis: a link connects, sends the set-up, and connects again whenever the socket breaks. It
/// carries out what `LinkStateMachine` decides.
///
/// From `start()` until `close()` the loop keeps the link and its owner alive.
final class RedisLink {
  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let limits: RedisLimits
  private let setUp: RedisSetUp?
  /// Finds the address of Redis before each try to connect; nil if the endpoint has it.
  private let lookup: SentinelLookup?
  private var machine: LinkStateMachine
  private var contexts: RedisTLSContexts?
  /// The endpoint of this try, connected or connecting.
  private var target: RedisEndpoint?
  private var resolver: HostResolver?
  /// The number of this try. A callback of an earlier try comes too late and is ignored.
  private var tries = 0

  var owner: (any RedisLinkOwner)?
  /// The commands that leave at the end of the loop's turn. Cleared whenever the socket is closed.
  let output = OutputBuffer()
  private var socket: RedisSocket?
  /// Fires at the deadline of connecting or setting up, or at the end of the pause.
  private var timer: LoopTimer?
  private var connectsEver = 0
  private var lastHeardEarlier: ContinuousClock.Instant?

  init(
    loop: EventLoop, endpoint: RedisEndpoint, by lookup: SentinelLookup?, limits: RedisLimits,
    setUp: RedisSetUp?
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.lookup = lookup
    self.limits = limits
    self.setUp = setUp
    contexts = endpoint.tls.map { RedisTLSContexts($0) }
    machine = LinkStateMachine(
      backoff: Backoff(limits.reconnectDelayMin, atMost: limits.reconnectDelayMax, jitter: .half))
  }

  /// When bytes last arrived from Redis; nil if never.
  var lastHeard: ContinuousClock.Instant? {
    socket?.lastHeard ?? lastHeardEarlier
  }

  func start() {
    lookup?.add(self)
    carryOut(machine.start())
  }

  func close() {
    carryOut(machine.close())
    lookup?.remove(self)
  }

  /// Closes the socket and connects again, because the owner can no longer use this connection.
  func giveUp(_ error: RedisError) {
    carryOut(machine.lost(error, random: .random(in: 0..<1)))
  }

  /// Closes the socket and connects again at once, since the owner wants another set-up.
  func startAgain(because error: RedisError) { carryOut(machine.startAgain(because: error)) }

  /// Tries to connect at once, if the link waits before the next try.
  func endPause() { carryOut(machine.pauseEnded()) }

  /// Sends a command, if there is a socket.
  func write(_ command: RedisCommand) {
    if socket != nil { output.append(command) }
  }

  /// Reads everything that has arrived, without waiting. To be called before a missing reply counts as late.
  func readAll() {
    socket?.readAll()
  }

  private func carryOut(_ action: LinkStateMachine.Action) {
    switch action {
    case .none: break
    case .connect: connect()
    case .ask(let commands): ask(commands)
    case .comeUp:
      setTimer(after: nil) {}
      owner?.linkDidComeUp()
    case .goDown(let error, let delay):
      if let target { lookup?.refuse(target.address) }
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
    guard let lookup else { return connect(to: endpoint) }
    // The lookup has time limits of its own, one for each Sentinel.
    setTimer(after: nil) {}
    let attempt = tries
    lookup.locate { result in
      guard self.tries == attempt else { return }
      do throws(RedisError) {
        self.connect(to: try result.get())
      } catch {
        self.giveUp(error)
      }
    }
  }

  private func connect(to target: RedisEndpoint) {
    self.target = target
    let cause =
      endpoint.tls == nil
      ? "connecting took too long"
      : "connecting with TLS took too long, perhaps because the port does not speak TLS"
    setTimer(after: limits.connectTimeout) { self.timedOut(cause) }
    guard case .tcp(let host, let port) = target.address, HostResolver.knownAddress(of: host) != host else {
      return open(target.address, of: target)
    }
    if let known = HostResolver.knownAddress(of: host) {
      return open(.tcp(host: known, port: port), of: target)
    }
    resolver(of: host).resolve { answer in
      do throws(RedisError) {
        let address = try self.choose(from: answer.mapError(RedisError.init).get())
        self.open(.tcp(host: address, port: port), of: target)
      } catch {
        self.giveUp(error)
      }
    }
  }

  private func resolver(of host: String) -> HostResolver {
    if let resolver, resolver.host == host { return resolver }
    let resolver = HostResolver(host: host, loop: loop)
    self.resolver = resolver
    return resolver
  }

  /// Chooses the next address at each try, so that a dead address does not keep the link from the others.
  private func choose(from addresses: [String]) throws(RedisError) -> String {
    guard !addresses.isEmpty else {
      throw RedisError(.unavailable, cause: "the host has no address", place: place)
    }
    connectsEver += 1
    return addresses[connectsEver % addresses.count]
  }

  /// - Parameter address: the target's address, with a number for its host.
  private func open(_ address: RedisEndpoint.Address, of target: RedisEndpoint) {
    do throws(RedisError) {
      var numeric = target
      numeric.address = address
      var tls: (TLSContext, String)?
      if case .tcp(let host, _) = target.address, let context = try contexts?.context() {
        tls = (context, host)
      }
      socket = try RedisSocket(
        to: numeric, by: tls, on: loop, sending: output, limits: limits, owner: self)
    } catch {
      giveUp(error)
    }
  }

  /// The place for errors.
  private var place: String { (target ?? endpoint).description }

  private func ask(_ commands: [RedisCommand]) {
    setTimer(after: limits.setUpTimeout) { self.timedOut("no reply during connection set-up") }
    for command in commands { write(command) }
  }

  private func timedOut(_ cause: String) {
    let expired = timer
    // If this process was suspended for a while, the reply may have arrived in time. Then reading the reply has replaced
    // or cancelled the timer.
    readAll()
    guard timer === expired else { return }
    giveUp(RedisError(.timedOut, cause: cause, place: place))
  }

  private func setTimer(after delay: Duration?, _ action: @escaping () -> Void) {
    timer?.cancel()
    timer = delay.map { loop.schedule(after: $0, action) }
  }

  private func closeSocket() {
    lastHeardEarlier = lastHeard
    socket?.close()
    socket = nil
    output.clear()
    resolver?.forget()
    target = nil
    tries += 1
  }

  /// Leaves any other node: it is not the master any more.
  func masterIsAt(_ address: RedisEndpoint.Address) {
    guard let target, target.address != address else { return }
    giveUp(RedisError(.connectionLost, cause: "the Sentinels name another master now", place: place))
  }
}

extension RedisLink: RedisSocketOwner {
  func socketDidOpen() {
    carryOut(machine.connected(setUp: .greeting(endpoint, then: setUp)))
  }

  func socketDidReceiveReply(in parser: ReplyParser) {
    if machine.isUp {
      owner?.linkDidReceiveReply(in: parser)
    } else {
      carryOut(machine.received(parser.takeReply(), random: .random(in: 0..<1)))
    }
  }

  func socketDidBreak(_ error: RedisError) {
    giveUp(error)
  }
}
