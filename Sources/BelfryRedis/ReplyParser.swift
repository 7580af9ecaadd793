import CHiredis

/// hiredis's reply reader with functions that build ``RedisReplies`` instead of a tree of `redisReply`.
///
/// SAFETY: the reader, its table of functions and the builder are allocated in `init` and freed in `deinit`. The
/// callbacks find the builder in the reader's `privdata`, and nobody else uses the builder while the reader runs. The
/// builder is not an object, because the checks for exclusive access to its properties would cost as much as reading the
/// replies.
@safe final class ReplyParser {
  /// The most bytes that are fed at once. After each reply the reader moves its unread bytes to the front,
  /// and moving many bytes costs more than reading them.
  static let pieceBytesMax = 4 << 10

  private let builder: UnsafeMutablePointer<ReplyBuilder>
  private let replyBytesMax: Int
  private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
  /// Nil if there was no memory for the reader.
  private let reader: UnsafeMutablePointer<redisReader>?

  init(replyBytesMax: Int) {
    self.replyBytesMax = replyBytesMax
    unsafe builder = .allocate(capacity: 1)
    unsafe builder.initialize(to: ReplyBuilder())
    unsafe functions = .allocate(capacity: 1)
    unsafe functions.initialize(
      to: redisReplyObjectFunctions(
        createString: addString, createArray: beginArray, createInteger: addInteger, createNil: addNull,
        freeObject: nil))
    unsafe reader = redisReaderCreateWithFunctions(functions)
    unsafe reader?.pointee.privdata = UnsafeMutableRawPointer(builder)
  }

  deinit {
    if let reader = unsafe reader { unsafe redisReaderFree(reader) }
    unsafe functions.deallocate()
    unsafe builder.deinitialize(count: 1)
    unsafe builder.deallocate()
  }

  /// Takes bytes from the socket. `readReply` has to be called until it returns false before more bytes are fed.
  func feed(_ bytes: ArraySlice<UInt8>) throws(RedisError) {
    guard let reader = unsafe reader else { throw malformed("no memory for the reply reader") }
    let status = unsafe bytes.withUnsafeBytes {
      unsafe redisReaderFeed(reader, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
    if status != REDIS_OK { throw readerError }
  }

  /// Reads one more reply, and keeps the reply until it is taken.
  /// - Returns: false if more bytes are needed first.
  /// - Throws: if the bytes are no reply, or the reply is too large. The parser cannot be used afterwards.
  func readReply() throws(RedisError) -> Bool {
    guard let reader = unsafe reader else { return false }
    var root: UnsafeMutableRawPointer?
    if unsafe redisReaderGetReply(reader, &root) != REDIS_OK { throw readerError }
    if unsafe root != nil { return true }
    let buffered = unsafe reader.pointee.len - reader.pointee.pos
    if unsafe buffered + builder.pointee.byteCount > replyBytesMax {
      throw malformed("a reply is larger than \(replyBytesMax) bytes")
    }
    return false
  }

  /// Takes the replies that were read since replies were last taken, at least one.
  func takeReplies() -> RedisReplies { unsafe builder.pointee.takeReplies() }

  /// Takes the only reply that was read since replies were last taken.
  func takeReply() -> RedisReply { unsafe builder.pointee.takeReply() }

  private var readerError: RedisError {
    guard let reader = unsafe reader else { return malformed("no memory for the reply reader") }
    return malformed(unsafe string(ofErrorText: reader.pointee.errstr))
  }

  private func malformed(_ cause: String) -> RedisError {
    RedisError(.malformedReply, cause: cause, place: "reply parser")
  }
}

// MARK: The reader's callbacks for each element
//
// The reader only checks if the returned pointer is null, which would mean that there was no memory. So all
// of these return the builder, which is never null. They are functions of the file, because the compiler
// might infer that a closure belongs to an actor.

private nonisolated func addString(
  _ task: UnsafePointer<redisReadTask>?, _ start: UnsafeMutablePointer<CChar>?, _ length: Int
) -> UnsafeMutableRawPointer? {
  unsafe withBuilder(of: task) { builder, type in
    let kind: ReplyBuilder.Text =
      switch type {
      case REDIS_REPLY_STATUS: .status
      case REDIS_REPLY_ERROR: .error
      default: .bulk
      }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: length)
    unsafe builder.add(kind, bytes.assumingMemoryBound(to: UInt8.self))
  }
}

private nonisolated func beginArray(
  _ task: UnsafePointer<redisReadTask>?, _ count: CInt
) -> UnsafeMutableRawPointer? {
  unsafe withBuilder(of: task) { builder, _ in builder.beginArray(count: Int(count)) }
}

private nonisolated func addInteger(
  _ task: UnsafePointer<redisReadTask>?, _ value: CLongLong
) -> UnsafeMutableRawPointer? {
  unsafe withBuilder(of: task) { builder, _ in builder.add(.integer(value)) }
}

private nonisolated func addNull(_ task: UnsafePointer<redisReadTask>?) -> UnsafeMutableRawPointer? {
  unsafe withBuilder(of: task) { builder, _ in builder.add(.null) }
}

private nonisolated func withBuilder(
  of task: UnsafePointer<redisReadTask>?, _ action: (inout ReplyBuilder, CInt) -> Void
) -> UnsafeMutableRawPointer? {
  guard let task = unsafe task, let builder = unsafe task.pointee.privdata else { return nil }
  unsafe action(&builder.assumingMemoryBound(to: ReplyBuilder.self).pointee, task.pointee.type)
  return unsafe builder
}
