"""Does the ratio of a store predict what is retrieved and answered from it?"""
