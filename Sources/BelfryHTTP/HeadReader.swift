import BelfryBytes
import CMicroHTTPD
import Glibc

/// Takes a request's head from MHD, and checks that a strict reader would have read the same.
///
/// MHD accepts much that RFC 9112 forbids: lines that end with LF alone, folded lines (joined to the *name* of the field
/// before), NUL, any number of spaces. A proxy that reads such a line otherwise sees another end of the request, and
/// what follows could become a request that the proxy never checked (request smuggling).
///
/// MHD leaves the words of a head in its read buffer, with zeros in place of space, colon, CR and LF. So a head is sound
/// if each word begins exactly where the one before it ends, and its separators. Only addresses are compared; none is
/// read from.
struct HeadReader {
  private(set) var headers = HTTPHeaders()
  /// What is wrong with the head, for people; nil if nothing is.
  private(set) var flaw: String?
  private let start: UInt
  /// Where the next line has to begin.
  private var nextLine: UInt

  /// - Parameter target: nil if MHD found none.
  init(method: UnsafePointer<CChar>, target: TargetPlace?, version: UnsafePointer<CChar>) {
    start = UInt(bitPattern: method)
    let methodEnd = unsafe start + UInt(strlen(method))
    let versionStart = UInt(bitPattern: version)
    nextLine = unsafe versionStart + UInt(strlen(version)) + 2
    guard let target, target.start == methodEnd + 1, versionStart == target.end + 1 else {
      flaw = "the first line must be a method, a target and a version with one space between them"
      return
    }
    let methodBytes = unsafe UnsafeRawBufferPointer(start: method, count: Int(methodEnd - start))
    if unsafe !HeadSyntax.isToken(methodBytes) {
      flaw = "the method is no token"
    } else if !target.isSound {
      flaw = "the target holds a space or a control character"
    }
  }

  mutating func take(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    unsafe headers.append(name, value)
    guard flaw == nil else { return }
    if UInt(bitPattern: name.baseAddress) != nextLine {
      flaw = Self.linesFlaw
    } else if unsafe !HeadSyntax.isToken(name) {
      flaw = "the name of a field is no token"
    } else if unsafe !HeadSyntax.isValue(value) {
      flaw = "the value of a field holds a control character"
    }
    nextLine = UInt(bitPattern: value.baseAddress) + UInt(value.count) + 2
  }

  /// Called when all fields were taken.
  /// - Parameter headBytes: from the method to the end of the empty line.
  mutating func finish(headBytes: Int) {
    guard flaw == nil, start + UInt(headBytes) != nextLine + 2 else { return }
    flaw = Self.linesFlaw
  }

  private static let linesFlaw = "each line must end with CR LF; none may be folded or hold NUL"
}

/// Where the target stood in MHD's read buffer when the first line had arrived; MHD puts zeros there later.
struct TargetPlace {
  let start: UInt
  let end: UInt
  /// Whether it has only bytes that a target may have.
  let isSound: Bool

  init(_ target: UnsafePointer<CChar>) {
    let bytes = unsafe UnsafeRawBufferPointer(start: target, count: strlen(target))
    start = UInt(bitPattern: target)
    end = start + UInt(bytes.count)
    isSound = unsafe HeadSyntax.isTarget(bytes)
  }
}

extension HeadReader {
  /// Reads the fields of a connection's request.
  mutating func readFields(of connection: OpaquePointer) {
    unsafe withUnsafeMutablePointer(to: &self) {
      _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, takeField, $0)
    }
  }
}

// SAFETY: the context is the pointer given above, by a function that is still running.
private nonisolated func takeField(
  _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameSize: Int,
  _ value: UnsafePointer<CChar>?, _ valueSize: Int
) -> MHD_Result {
  guard let reader = unsafe context?.assumingMemoryBound(to: HeadReader.self), let name = unsafe name else {
    return .NO
  }
  unsafe reader.pointee.take(bytes(name, nameSize), bytes(value, valueSize))
  return .YES
}

private func bytes(_ text: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
  unsafe UnsafeBufferPointer(
    start: UnsafeRawPointer(text)?.assumingMemoryBound(to: UInt8.self), count: text == nil ? 0 : count)
}
