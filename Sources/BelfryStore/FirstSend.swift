package import BelfryModel

/// What is remembered of a send that may be a repetition.
package enum FirstSend: Sendable, Hashable {
  /// Nothing: it is none, or came so late that it is a new one.
  case unknown
  /// The same was sent before, with this id.
  case same(MessageID)
  /// The sender's id was used before, for something else.
  case different
}

extension Refusal {
  static var duplicateContent: Refusal {
    Refusal(
      .duplicateContent, "this messageClientId was used for another notification", field: "messageClientId")
  }
}
