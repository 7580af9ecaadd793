import BelfryModel

/// Records that sends decided on lately, as they were then.
final class RecentRecords {
  /// A few for each place that is written to and each of its senders; at most some kilobytes each, mostly a
  /// hundred bytes.
  static let countMax = 8_192

  private var texts = RecentValues<RecordAddress, String?>(countMax: countMax)

  /// Nil unless all are known.
  func recall(_ addresses: [RecordAddress]) -> Records? {
    var found: [RecordAddress: String?] = [:]
    for address in addresses {
      guard let text = texts.use(address) else { return nil }
      found.updateValue(text, forKey: address)
    }
    return Records(found)
  }

  func remember(_ records: Records) {
    for (address, text) in records.texts { texts.remember(text, as: address) }
  }
}
