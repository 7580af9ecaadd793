/// LZF: the compression of strings in an RDB file (Redis's lzf_d.c).
enum LZF {
  /// Nil if the input is not the compressed form of this many bytes.
  static func decompress(_ input: [UInt8], to count: Int) -> [UInt8]? {
    var output: [UInt8] = []
    output.reserveCapacity(min(count, input.count * 8))
    var index = 0
    while index < input.count {
      let control = Int(input[index])
      index += 1
      if control < 32 {
        // A literal: `control` + 1 bytes as they are.
        guard index + control < input.count else { return nil }
        output += input[index...index + control]
        index += control + 1
      } else {
        guard let place = reference(input, control, &index, from: output.count) else { return nil }
        // One by one: the source may overlap with what is being written.
        for offset in 0..<place.length { output.append(output[place.start + offset]) }
      }
      guard output.count <= count else { return nil }
    }
    return output.count == count ? output : nil
  }

  /// Which bytes of the output are repeated.
  private static func reference(
    _ input: [UInt8], _ control: Int, _ index: inout Int, from end: Int
  ) -> (start: Int, length: Int)? {
    var length = control >> 5 + 2
    if length == 9 {
      guard index < input.count else { return nil }
      length += Int(input[index])
      index += 1
    }
    guard index < input.count else { return nil }
    let start = end - (control & 31) << 8 - Int(input[index]) - 1
    index += 1
    return start >= 0 ? (start, length) : nil
  }
}
