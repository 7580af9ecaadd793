extension String {
  /// A sentence's beginning within another one.
  var loweringFirst: String { prefix(1).lowercased() + dropFirst() }
}
