/// The operations on what exists, scene by scene: each with its name and who may do it.
package enum Operations {}
