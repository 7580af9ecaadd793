/// The methods that routes are made of. HEAD is not among them: it is a GET whose body is left out.
package enum HTTPVerb: String, Sendable, Hashable, CaseIterable {
  case get = "GET"
  case post = "POST"
  case put = "PUT"
  case patch = "PATCH"
  case delete = "DELETE"
}
