import CCurl

/// The time that an answer names for the next try.
///
/// Source: RFC 9110, 10.2.3: a number of seconds, or a date in one of the three ways in which HTTP writes dates.
package enum RetryAfter {
  /// Seconds from now on, 0 for a time that has passed; nil if it is neither a number nor a date.
  package static func seconds(_ text: String, nowSeconds: Int64) -> Int64? {
    if let seconds = Int64(text) { return max(seconds, 0) }
    // SAFETY: libcurl reads the text during the call, and the second argument is not used.
    let time = unsafe curl_getdate(text, nil)
    return time < 0 ? nil : max(Int64(time) - nowSeconds, 0)
  }
}
