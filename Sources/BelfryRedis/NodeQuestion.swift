import BelfryLoop

/// Asks one node something about the others, over a connection of its own: it must not wait behind commands, and may go
/// to a node that commands do not go to.
final class NodeQuestion<Answer> {
  private let connection: RedisConnection
  private let loop: EventLoop
  private var answer: Result<Answer, RedisError>
  private var then: ((Result<Answer, RedisError>) -> Void)?

  /// - Parameter read: makes the answer of the replies, errors included.
  init(
    loop: EventLoop, _ endpoint: RedisEndpoint, _ limits: RedisLimits, _ commands: [RedisCommand],
    read: @escaping ([RedisReply]) throws(RedisError) -> Answer
  ) {
    self.loop = loop
    answer = .failure(
      RedisError(.unavailable, cause: "the question was not sent", place: endpoint.description))
    let holder = Holder()
    connection = RedisConnection(
      loop: loop, endpoint: endpoint, limits: limits,
      setUp: RedisSetUp(commands) { replies throws(RedisError) in
        holder.question?.answer = .success(try read(replies))
        return nil
      })
    holder.question = self
  }

  /// The set-up is made before the question that it answers.
  private final class Holder {
    weak var question: NodeQuestion?
  }

  /// - Parameter then: called once, unless the question is cancelled.
  func ask(then: @escaping (Result<Answer, RedisError>) -> Void) {
    self.then = then
    connection.onStateChange = { [weak self] state in
      switch state {
      case .ready: self?.end()
      case .lost(let error):
        self?.answer = .failure(error)
        self?.end()
      case .connecting, .closed: break
      }
    }
    connection.start()
  }

  func cancel() {
    then = nil
    connection.close()
  }

  /// The connection is closed in the loop's next turn, since it is about to use what it would close.
  private func end() {
    connection.onStateChange = nil
    _ = loop.schedule(after: .zero) { [self] in
      connection.close()
      then?(answer)
      then = nil
    }
  }
}
