import BelfryBytes
import CMicroHTTPD
import Glibc

/// Takes a request's head over from MHD, and sees whether MHD read what others read.
///
/// MHD passes over much that RFC 9112 forbids: lines that end with LF alone, folded lines, which it glues to the
/// *name* of the field before them, NUL, and spaces without number. A proxy that understands such a line
/// otherwise ends the request elsewhere, and what follows becomes a request that it never saw.
///
/// The words of a head stay in MHD's read buffer, with zeros where a space, a colon, CR and LF were. So a
/// head is sound if each word begins where a reader that passes over nothing would look for it. Only
/// addresses are compared, nothing is read by them.
struct HeadReader {
  private(set) var headers = HTTPHeaders()
  /// What is wrong with it, for people.
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

  /// All fields were taken.
  /// - Parameter headBytes: from the method to the end of the empty line.
  mutating func finish(headBytes: Int) {
    guard flaw == nil, start + UInt(headBytes) != nextLine + 2 else { return }
    flaw = Self.linesFlaw
  }

  private static let linesFlaw = "each line must end with CR LF; none may be folded or hold NUL"
}

/// Where the target stood in MHD's read buffer when the first line was there. MHD ends its words there later.
struct TargetPlace {
  let start: UInt
  let end: UInt
  /// Whether it is made of what a target may be made of.
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

// SAFETY: the context is the pointer above, whose function is still running.
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
