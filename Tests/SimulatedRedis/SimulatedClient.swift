/// The state that a Redis keeps of one connection.
package struct SimulatedClient: Hashable, Sendable {
  package let id: Int
  var isAuthenticated = false
  /// The command before was ASKING.
  var isAsking = false
  /// The commands since MULTI; nil outside of a transaction.
  var queue: [[Bytes]]?
  /// A command of the transaction was refused.
  var isQueueRefused = false
  /// In the order of their subscription.
  package internal(set) var channels: [Bytes] = []
  /// The end of the log after the last command of this connection.
  var writtenOffset = 0

  package init(id: Int) { self.id = id }

  mutating func endTransaction() {
    queue = nil
    isQueueRefused = false
  }
}
