import BelfryModel

/// The body of an update: what of a notification can change.
struct UpdateRequest {
  var body: String?
  var ext: String?
  var status: Int?

  init(_ fields: consuming Fields) throws(Refusal) {
    body = try fields.text("body")
    ext = try fields.text("ext")
    status = try fields.integer("status")
    try fields.finish()
  }
}

/// The body of a mark-read: single notifications, or everything up to one.
enum ReadRequest {
  case items([MessageID])
  case upTo(MessageID)

  init(_ fields: consuming Fields) throws(Refusal) {
    let items = try fields.list("items", counts: 1...Limits.itemsPerMarkRead) { value, path throws(Refusal) in
      try Self.item(value, at: path)
    }
    let upTo = try fields.message("upTo")
    try fields.finish()
    switch (items, upTo) {
    case (let items?, nil): self = .items(items)
    case (nil, let upTo?): self = .upTo(upTo)
    case (nil, nil): throw .invalid("items", "or upTo is needed: what is read?")
    case (.some, .some): throw .invalid("upTo", "cannot stand beside items; give one of them")
    }
  }

  /// The id alone tells which notification it is; `type` is what other systems ask for beside it.
  private static func item(_ value: JSONValue, at path: String) throws(Refusal) -> MessageID {
    var fields = try Fields(value, at: path)
    let id = try fields.needed(try fields.message("messageServerId"), "messageServerId")
    _ = try fields.integer("type")
    try fields.finish()
    return id
  }
}
