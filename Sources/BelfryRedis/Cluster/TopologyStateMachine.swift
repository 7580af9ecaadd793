/// The answer of a cluster's node that was asked for the map of slots.
struct TopologyAnswer: Hashable {
  var map: SlotMap
  /// CLUSTER INFO's `cluster_current_epoch`. It grows with each failover, and an older one comes from a node
  /// that has not heard of the latest.
  var epoch: Int64
  /// True if the node says `cluster_state:ok`. A master that is cut off from most others does not.
  var isServing: Bool

  /// - Parameter replies: to ``commands``.
  init(_ replies: [RedisReply], from asked: RedisEndpoint.Address) throws(RedisError) {
    _ = try RedisSetUp.refuseErrors(replies)
    let info = try RedisInfo(replies[0])
    map = try SlotMap(replies[1], from: asked)
    epoch = info["cluster_current_epoch"].flatMap { Int64($0) } ?? 0
    isServing = info["cluster_state"] == "ok"
  }

  init(_ map: SlotMap, epoch: Int64, isServing: Bool = true) {
    (self.map, self.epoch, self.isServing) = (map, epoch, isServing)
  }

  static let commands = [RedisCommand("CLUSTER", "INFO"), RedisCommand("CLUSTER", "SLOTS")]
}

/// Decides when a cluster is asked for the map of its slots, which of its nodes is asked, and which answers
/// count.
///
/// Say a network cut leaves a master with few of the others: it goes on naming itself the owner of its slots,
/// while the rest has given them to its replica. So another node is asked each time, even if nothing seems
/// wrong, and an answer of an older epoch does not count.
///
/// The state machine is pure: it is told what happened and when.
struct TopologyStateMachine {
  typealias Address = RedisEndpoint.Address
  typealias Instant = ContinuousClock.Instant

  enum Action: Hashable {
    /// No action: a question is under way, and its end decides.
    case none
    case ask(Address)
    /// No question is due before.
    case wait(Duration)
  }

  /// The time between two questions if nothing is wrong. Faults that nobody reports, such as a master that is
  /// cut off and still serves this broker, are noticed within this time.
  static let interval: Duration = .seconds(3)
  /// The time between two questions if something is wrong: a failover takes seconds, and its end has to be
  /// noticed at once.
  static let intervalMin: Duration = .milliseconds(100)
  /// After so many answers of an older epoch, with none of the known one between them, the cluster counts as
  /// a new one. Each answer is of another node, which says that it is well. In a cluster that is cut off,
  /// each node says so only until the node timeout.
  static let olderAnswersMax = 10

  private(set) var map: SlotMap
  /// False until the first answer: the map then names the node that the broker was told of, and no other.
  private(set) var isKnown = false
  private let seed: Address
  private var epoch: Int64 = 0
  private var olderAnswers = 0
  private var isAsking = false
  /// True if something seemed wrong since the last question was asked.
  private var isInDoubt = false
  private var askedAt: Instant?
  private var questions = 0

  init(seed: Address) {
    self.seed = seed
    map = SlotMap(only: seed)
  }

  /// Something does not fit the map: a node is lost, or has named another.
  mutating func doubt(now: Instant) -> Action {
    isInDoubt = true
    return next(now: now)
  }

  /// Notes that one slot has moved, as its last owner has said.
  mutating func move(_ slot: Int, to address: Address, now: Instant) -> Action {
    map.move(slot, to: address)
    return doubt(now: now)
  }

  /// The next action. To be called after the wait that the last action named.
  mutating func next(now: Instant) -> Action {
    if isAsking { return .none }
    let pause = isInDoubt || !isKnown ? Self.intervalMin : Self.interval
    if let askedAt, askedAt + pause > now { return .wait(now.duration(to: askedAt + pause)) }
    (isAsking, isInDoubt, askedAt) = (true, false, now)
    questions += 1
    return .ask(candidates[questions % candidates.count])
  }

  /// - Returns: true if the map has changed.
  mutating func take(_ answer: TopologyAnswer) -> Bool {
    if answer.epoch < epoch, answer.isServing { olderAnswers += 1 }
    if answer.epoch >= epoch { olderAnswers = 0 }
    guard
      !isKnown || answer.epoch > epoch || (answer.epoch == epoch && answer.isServing)
        || olderAnswers >= Self.olderAnswersMax
    else { return false }
    (epoch, olderAnswers) = (answer.epoch, 0)
    let isNew = !isKnown || answer.map != map
    (map, isKnown) = (answer.map, true)
    return isNew
  }

  /// Notes that the question has ended, answered or not.
  mutating func ended(isAnswered: Bool, now: Instant) -> Action {
    isAsking = false
    if !isAnswered { isInDoubt = true }
    return next(now: now)
  }

  private var candidates: [Address] {
    let known = map.masters + map.replicas
    return known.contains(seed) ? known : known + [seed]
  }
}
