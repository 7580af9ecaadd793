import CHiredis

/// hiredis's reply reader, with functions that build a ``RedisReply`` instead of a tree of `redisReply`.
///
/// SAFETY: the reader, its table of functions and the builder are allocated in `init` and freed in `deinit`. The
/// callbacks find the builder in the reader's `privdata`; nobody else uses it while the reader runs. The builder is not
/// an object: the checks for exclusive access to its properties cost as much as reading the replies.
@safe final class ReplyParser {
  /// The most fed at once: the reader moves its unread bytes after each reply, which costs more than reading if there
  /// are many.
  static let pieceBytesMax = 4 << 10

  private let builder: UnsafeMutablePointer<ReplyBuilder>
  private let replyBytesMax: Int
  private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
  /// nil if there was no memory for it.
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

  /// Takes bytes from the socket. Call `next` until it returns nil before feeding more.
  func feed(_ bytes: ArraySlice<UInt8>) throws(RedisError) {
    guard let reader = unsafe reader else { throw malformed("no memory for the reply reader") }
    let status = unsafe bytes.withUnsafeBytes {
      unsafe redisReaderFeed(reader, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
    if status != REDIS_OK { throw readerError }
  }

  /// The next complete reply, or nil if more bytes are needed first. After an error the parser is of no
  /// further use.
  func next() throws(RedisError) -> RedisReply? {
    guard let reader = unsafe reader else { return nil }
    var root: UnsafeMutableRawPointer?
    if unsafe redisReaderGetReply(reader, &root) != REDIS_OK { throw readerError }
    if unsafe root != nil { return unsafe builder.pointee.takeFinished() }
    let buffered = unsafe reader.pointee.len - reader.pointee.pos
    if unsafe buffered + builder.pointee.byteCount > replyBytesMax {
      throw malformed("a reply is larger than \(replyBytesMax) bytes")
    }
    return nil
  }

  private var readerError: RedisError {
    guard let reader = unsafe reader else { return malformed("no memory for the reply reader") }
    return malformed(unsafe string(ofErrorText: reader.pointee.errstr))
  }

  private func malformed(_ cause: String) -> RedisError {
    RedisError(.malformedReply, cause: cause, place: "reply parser")
  }
}

// MARK: What the reader calls for each element
//
// The reader only tells by the returned pointer whether there was memory, so all return the builder, which is never
// null. Functions of the file, since a closure might be inferred to belong to an actor.

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
