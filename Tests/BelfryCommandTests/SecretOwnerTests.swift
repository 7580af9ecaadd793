import Testing

@testable import belfry

@Suite struct SecretOwnerTests {
  @Test(arguments: [
    ("belfry", "/usr/sbin/nologin", "runuser -u belfry -- belfry secret retire kid"),
    ("belfry", "/bin/false", "runuser -u belfry -- belfry secret retire kid"),
    ("alice", "/bin/bash", "belfry secret retire kid"), ("", "", "belfry secret retire kid"),
  ])
  func `root can run the command of a service's user`(name: String, shell: String, text: String) {
    #expect(SecretOwner(name: name, loginShell: shell).command("secret retire kid") == text)
  }
}
