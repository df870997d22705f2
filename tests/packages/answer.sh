#!/bin/sh
# Called by debconf's "editor" frontend with a file of questions: answers each with $ANSWER.
sed -i "s/^\(fieldcost-agent\/permit=\).*/\1\"$ANSWER\"/" "$1"
