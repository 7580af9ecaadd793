import BelfryModel

/// Records that sends of one event loop decided on lately, as they were then.
final class RecentRecords {
  /// A few for each space that is written to and each of its senders; at most some kilobytes each, mostly a hundred
  /// bytes.
  static let countMax = 8_192

  private struct Recent {
    var text: String?
    /// The settings that the text was decoded to when it was first used; nil for a record that is no settings.
    var settings: (any Sendable)?
  }

  private var records = RecentValues<RecordAddress, Recent>(countMax: countMax)

  /// Nil unless all are known.
  func cached(_ addresses: [RecordAddress]) -> Records? {
    var found = Records()
    for address in addresses {
      guard var recent = records.use(address) else { return nil }
      if recent.settings == nil, let text = recent.text, let settings = address.settings(decoding: text) {
        recent.settings = settings
        records.remember(recent, as: address)
      }
      found.add(recent.text, decodedTo: recent.settings, at: address)
    }
    return found
  }

  func remember(_ read: Records) {
    for (address, text) in read.texts { records.remember(Recent(text: text), as: address) }
  }
}
