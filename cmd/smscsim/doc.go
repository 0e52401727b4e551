// Command smscsim is a simulated, misbehaving SMSC for demonstrations, tests and load.
//
//	smscsim serve [flags]   the SMSC; the default command
//	smscsim load            puts whole lives on an esmed and measures them: see package lives
//	smscsim wire            an ESME that submits as fast as it can: what the wire can do
//	smscsim rate            how fast the submits of serve's truth came
//	smscsim audit           compares the truth of serve with what esmed says
//
// serve prints the address at which it listens as its first line on stdout. With --truth F it writes
// down all that it saw and did, one JSON object a line: see package smpptest. It ends on SIGINT or
// SIGTERM, or by --until-drained N, with a summary on stderr.
//
// A script knows that everything is out by --status-file F: JSON that is replaced as a whole five times
// a second and says at least what the truth file then holds. Wait until submits has reached the number
// that you sent and pending is 0.
//
// Exit status: 0 done, or the audit agrees; 1 failed, or it disagrees, or lives were lost or doubled; 2 usage.
package main
