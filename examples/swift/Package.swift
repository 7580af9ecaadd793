// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "belfry-example",
  // In a program of your own: where you keep the repository.
  dependencies: [.package(name: "belfry", path: "../..")],
  targets: [
    .executableTarget(
      name: "belfry-example", dependencies: [.product(name: "BelfryClient", package: "belfry")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
