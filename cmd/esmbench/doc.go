// Command esmbench measures esmed at any number of stored messages.
//
//	esmbench fill    makes a data_dir with many messages, as their lives leave it
//
// Exit status: 0 done; 1 failed; 2 usage.
package main
