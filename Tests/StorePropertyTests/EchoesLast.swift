import BelfryModel
import BelfryStore

/// Tells an account's other devices only once all transactions of a commit are done, as a broker does: it tells them when
/// Redis has answered, and has asked Redis for all of them before.
final class EchoesLast: ForwardingStore {
  override func commit(_ transactions: [Transaction]) async -> [CommitResult] {
    guard transactions.count > 1 else { return await base.commit(transactions) }
    let silent = transactions.map { transaction in
      var transaction = transaction
      transaction.echo = nil
      return transaction
    }
    let results = await base.commit(silent)
    for (transaction, result) in zip(transactions, results) where transaction.echo != nil {
      guard case .success(.committed) = result else { continue }
      var telling = Transaction(transaction.space)
      telling.echo = transaction.echo
      _ = await base.commit([telling])
    }
    return results
  }
}
