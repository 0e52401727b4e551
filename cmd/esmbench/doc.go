// Command esmbench measures esmed at any number of stored messages.
//
//	esmbench run     runs one case: a daemon, a simulated SMSC, and whole lives between them
//	esmbench bench   runs the standard cases
//	esmbench plot    draws what a results file holds
//	esmbench compare compares two revisions of the daemon
//	esmbench fill    makes a data_dir with many messages, as their lives leave it
//
// Exit status: 0 done; 1 failed; 2 usage.
package main
