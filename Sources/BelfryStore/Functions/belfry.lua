#!lua name=belfry
